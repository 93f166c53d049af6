"""Whatever a user's part gives: what the journal writes can be read again, or it is refused."""

import datetime as dt
import types
import typing
from decimal import Decimal
from functools import cache
from typing import Any, Final, Literal, get_args, get_origin

import anyio
import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from clew import MemoryStore, PartError, StoreError
from clew.core.actions import Action
from clew.core.blobs import BLOB_BYTES
from clew.core.contents import Image, Observation, RawCall, Reply, text_parts
from clew.core.entries import Entry
from clew.core.events import (
    AnyEvent,
    Fingerprints,
    Forked,
    Gathered,
    Note,
    Started,
    Suspended,
    Thought,
)
from clew.core.journal import Journal, load
from clew.core.specs import AgentSpec
from clew.core.stores import Append, Base
from clew.stores.refusals import known_run
from clew.support.errors import RunExistsError, StoreDamagedError

SECRET: Final = "key-of-mine-0123"
STARTED: Final = Started(text_parts("What?"), AgentSpec("f", "m", "c", "p"))
THOUGHT: Final = Thought(Reply(), Fingerprints("h", "t", "p", "s"), actions=(Action("a"),))
OURS: Final = frozenset({"again", "call", "parent", "schema", "step"})
"""Places in the record: no part gives them."""


LONG: Final = "x" * (BLOB_BYTES + 1)
TEXTS: Final = st.one_of(
    st.text(max_size=8), st.just(LONG), st.just(f"my {SECRET}, kept"), st.just("half \ud83d")
)
NUMBERS: Final = st.one_of(st.integers(-5, 5), st.just(2**63), st.just(-(2**80)))
LEAVES: Final = st.one_of(st.none(), st.booleans(), NUMBERS, st.floats(), TEXTS)
VALUES: Final = st.recursive(
    LEAVES,
    lambda inner: st.one_of(st.lists(inner, max_size=1), st.dictionaries(TEXTS, inner, max_size=1)),
    max_leaves=3,
)
ODD: Final = st.one_of(
    VALUES,
    st.sampled_from([
        object(), {1: 2}, {("a", 1): 2}, {1, 2}, b"bytes", b"\xff", Decimal("1.5"), 1j, Note,
        dt.date(2026, 1, 1), memoryview(b"seen"), STARTED,
    ]),
)  # fmt: skip
"""What no part should give, and what it may give in the wrong place."""


@cache
def of(kind: Any) -> st.SearchStrategy[Any]:
    """Values that a field of this type may hold."""
    if kind is Any:
        return VALUES
    if kind in (str, float, int):
        return {str: TEXTS, float: st.floats(), int: NUMBERS}[kind]
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        return made(kind)
    inner = get_args(kind)
    match get_origin(kind):
        case typing.Union | types.UnionType:
            return st.one_of(*map(of, inner))
        case origin if origin is tuple:
            return st.lists(of(inner[0]), max_size=1).map(tuple)
        case origin if origin is dict:
            return st.dictionaries(TEXTS, of(inner[1]), max_size=1)
        case origin if origin is Literal:
            return st.sampled_from(inner)
        case _:
            return st.from_type(kind)


@cache
def made(kind: type[msgspec.Struct]) -> st.SearchStrategy[Any]:
    """Structs of this type, with some of their fields given."""
    fields = {field.name: of(field.type) for field in msgspec.structs.fields(kind)}
    needed = {field.name for field in msgspec.structs.fields(kind) if field.required}
    left = {name: each for name, each in fields.items() if name not in needed | OURS}
    first = {
        name: st.just("1.1" if name == "call" else "r" if name == "parent" else 1)
        if name in OURS
        else each
        for name, each in fields.items()
        if name in needed or name == "call"
    }
    given_too = st.fixed_dictionaries(first, optional=left)
    return given_too.map(lambda values: kind(**values))


@st.composite
def given_by_a_part(draw: st.DrawFn, kind: type[msgspec.Struct]) -> AnyEvent:
    """An event of this type; one of its fields, or of what is in them, may hold anything."""
    event: Any = draw(made(kind))
    if draw(st.booleans()):
        event = spoilt(draw, event)
    if isinstance(event, Observation):  # a tool's is emptied before
        event = msgspec.structs.replace(event, blob="")
    return typing.cast("AnyEvent", event)


def spoilt(draw: st.DrawFn, value: Any) -> Any:
    """The struct with another value somewhere in it."""
    names = [name for name in value.__struct_fields__ if name not in OURS]
    if not names:
        return value
    name = draw(st.sampled_from(names))
    old = getattr(value, name)
    if isinstance(old, tuple) and old and isinstance(old[0], msgspec.Struct):
        new: Any = (spoilt(draw, old[0]), *old[1:])
    elif isinstance(old, msgspec.Struct):
        new = spoilt(draw, old)
    else:
        new = draw(ODD)
    try:
        return msgspec.structs.replace(value, **{name: new})
    except (TypeError, ValueError):  # it is refused where it is made
        return value


async def begun(store: MemoryStore, event: AnyEvent) -> Journal:
    """Record the event where such a one stands: first, first in a fork, or in a run."""
    if isinstance(event, Started):
        return await Journal.create(store, event, "it", secrets=[SECRET])
    if isinstance(event, Forked):
        first = await Journal.create(store, STARTED, "r")
        shared = first.trajectory.entries
        return await Journal.fork(store, Base("r", 1), shared, [event], "it", secrets=[SECRET])
    journal = await Journal.create(store, STARTED, "it", secrets=[SECRET])
    await journal.record(THOUGHT)
    await journal.record(event)
    return journal


async def record(event: AnyEvent) -> None:
    """Record it in a new run, and read that."""
    store, refused = MemoryStore(), ""
    try:
        entries = (await begun(store, event)).trajectory.entries
    except (StoreError, PartError) as error:
        entries, refused = (await load(store, "it")).entries, str(error)
    assert len(refused.splitlines()) <= 1
    assert (await load(store, "it")).entries == entries
    assert refused == "" or all(type(entry.event) is not type(event) for entry in entries[2:])


@pytest.mark.parametrize(
    "event",
    [
        msgspec.structs.replace(THOUGHT, actions=(Action("a", {"b": 1}, blob="no digest"),)),
        msgspec.structs.replace(
            THOUGHT, reply=Reply(calls=(RawCall(name="a", arguments="{}", blob="00" * 32),))
        ),
        Suspended("1.1", (Action("a", {"b": 1}, blob="no digest"),)),
    ],
    ids=["format", "model", "tool"],
)
def test_a_blob_that_a_part_names_is_not_looked_for(event: AnyEvent) -> None:
    anyio.run(record, event)


@pytest.mark.parametrize("text", ["short", LONG])
def test_an_image_comes_back_beside_any_text(text: str) -> None:
    anyio.run(record, Observation("1.1", text, attachments=(Image("image/png", b"\x89PNG"),)))


class Going(MemoryStore):
    """A store in which a run is forgotten just after its id was found taken."""

    async def create(self, run_id: str, base: Base | None = None) -> int:
        raise known_run(run_id)


@pytest.mark.anyio
async def test_a_run_that_is_forgotten_as_it_is_begun_says_that_its_id_was_taken() -> None:
    with pytest.raises(RunExistsError):
        await Journal.create(Going(), STARTED, "it")


@pytest.mark.anyio
async def test_a_line_whose_place_is_no_number_was_changed() -> None:
    store = MemoryStore()
    await begun(store, THOUGHT)
    [*_, last] = await store.read("it")
    line = msgspec.structs.replace(last, seq=last.seq + 1, at=typing.cast("int", "later"))
    await store.append(Append("it", 1, (line,)))
    with pytest.raises(StoreDamagedError, match="was changed after it was written"):
        await load(store, "it")


class Stopped:
    """A listener during which somebody presses Ctrl-C."""

    def token(self, text: str) -> None:
        raise KeyboardInterrupt

    def entry(self, entry: Entry) -> None:
        """Nothing."""


@pytest.mark.anyio
async def test_words_that_nobody_listens_to_are_no_failure(
    caplog: pytest.LogCaptureFixture,
) -> None:
    journal = await Journal.create(MemoryStore(), STARTED, "it")
    caplog.clear()
    journal.token("word")
    assert caplog.messages == []


@pytest.mark.anyio
async def test_a_real_interrupt_of_a_listener_is_nobodys_fault() -> None:
    store = MemoryStore()
    journal = await Journal.create(store, STARTED, "it", listener=Stopped())
    with pytest.raises(KeyboardInterrupt):
        journal.token("word")
    await journal.record(Note(text_parts("it goes on")))
    assert len(await load(store, "it")) == 2


GIVEN: Final = [kind for kind in get_args(AnyEvent) if kind is not Gathered]
"""Events of which a part gives something: calls that were put off are clew's own."""


@pytest.mark.parametrize("kind", GIVEN, ids=lambda kind: kind.__name__)
@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(data=st.data())
def test_what_is_written_can_be_read_again(kind: type[msgspec.Struct], data: st.DataObject) -> None:
    anyio.run(record, data.draw(given_by_a_part(kind)))
