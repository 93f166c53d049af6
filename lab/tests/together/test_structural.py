"""What a wrapper passes on by `__getattr__` it can do, on every Python: all protocols ask alike."""

import re
from pathlib import Path
from typing import Any

import pytest

from clew.agent.compare import Ranks
from clew.codecs.written_values import ReadsValues
from clew.core.codec import Constrains, Describes, FindsCalls
from clew.core.judging import Audits
from clew.core.listeners import Progress
from clew.core.models import Model
from clew.models.provider import Downloads
from clew.stores.interface import (
    Deletes,
    Locks,
    Notifies,
    Owns,
    Pages,
    Placed,
    Recovers,
    RemembersNotices,
    Selects,
    Witnessed,
)
from clew.tools.retrieval.embedding import CachedEmbedding
from clew.workers.run_one import KnowsOrigins
from clew_strategies.interface import AnswersByRole, ExtendsLimits

ASKED: dict[Any, str] = {
    AnswersByRole: "answering",
    Audits: "audit",
    Constrains: "grammar",
    Deletes: "forget size",
    Describes: "describe",
    Downloads: "offered download",
    ExtendsLimits: "extended_limits",
    FindsCalls: "calls_in",
    CachedEmbedding: "model __call__",
    KnowsOrigins: "origin_of",
    Locks: "claim release due",
    Model: "info complete",
    Notifies: "wakes",
    Owns: "foreign adopt",
    Pages: "read_page",
    Placed: "location",
    Progress: "token entry progress",
    Ranks: "always find as_recorded",
    ReadsValues: "value_reader",
    RemembersNotices: "notified set_notified",
    Recovers: "salvage",
    Selects: "select",
    Witnessed: "remarks",
}
"""All protocols that may be asked for with `isinstance`, and what each asks for."""
ALL = pytest.mark.parametrize(("kind", "names"), ASKED.items(), ids=[k.__name__ for k in ASKED])


class Wrapper:
    """What somebody writes around a part."""

    def __init__(self, part: object) -> None:
        self._part = part

    def __getattr__(self, name: str) -> Any:
        return getattr(self._part, name)

    def __call__(self, *args: Any) -> Any:
        """As the part."""
        return self._part(*args)  # type: ignore[operator]  # where it can be called


def part(names: str, **more: Any) -> Any:
    """An object of a class that has these members."""
    return type("Part", (), {**dict.fromkeys(names.split(), id), **more})()


@ALL
def test_a_part_and_a_wrapper_of_it_can_do_the_same(kind: Any, names: str) -> None:
    made = part(names)
    assert isinstance(made, kind)
    assert isinstance(Wrapper(made), kind)
    assert isinstance(Wrapper(Wrapper(made)), kind)


@ALL
def test_what_lacks_a_member_or_has_none_in_its_place_cannot(kind: Any, names: str) -> None:
    for name in names.split():
        rest = names.replace(name, "").strip()
        assert not isinstance(part(rest), kind)
        assert not isinstance(part(names, **{name: None}), kind)
        if name != "__call__":  # the wrapper has that itself
            assert not isinstance(Wrapper(part(rest)), kind)


@ALL
def test_who_inherits_from_a_protocol_is_one(kind: Any, names: str) -> None:
    heir = type("Heir", (kind,), {})
    other = type("Other", (kind,), {})
    assert isinstance(heir(), kind)
    assert not isinstance(heir(), other)
    assert not isinstance(part(names), heir)


def test_the_table_has_all_of_them() -> None:
    values = set[str]()
    for path in Path(__file__).parents[3].glob("packages/*/src/**/*.py"):
        values |= {*re.findall(r"@runtime_checkable\nclass (\w+)", path.read_text("utf-8"))}
    assert values == {kind.__name__ for kind in ASKED}
