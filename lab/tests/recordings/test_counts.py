"""What recorded services counted of their prompts is never taken for the count of a cut one."""

from collections.abc import Iterator
from typing import Any, Final

import pytest

from clew.core.contents import Reply, Usage
from clew.core.prompts import Part, Prompt
from clew.models.undercount import with_size
from recordings.data import Unread, files, lines, missing
from recordings.forms import Record, kind_of
from recordings.wire_exchanges import Exchange, exchanges

LISTED, WHY_NOT = files(), missing()
"""The recordings, taken before a test loses the variables of its environment."""

TIMES: Final = 300
"""A prompt and its count are taken so many times over: short ones are not looked at."""

REPLIES: Final = ("messages", "input", "contents", "system", "instructions", "systemInstruction")
NO_TEXT: Final = frozenset({"data", "url", "image_url", "signature", "thoughtSignature"})
"""Keys of what is no text of a prompt."""


def texts(value: Any, key: str = "") -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, each in value.items():
            if name not in NO_TEXT | {"id", "type", "role", "encrypted_content", "call_id"}:
                yield from texts(each, name)
    elif isinstance(value, list):
        for each in value:
            yield from texts(each, key)


def recorded() -> list[Exchange]:
    every: list[Record] = [
        line
        for path in LISTED
        for line in lines(path)
        if not isinstance(line, Unread) and kind_of(line) == "wire"
    ]
    return exchanges(every)[0]


@pytest.mark.skipif(bool(WHY_NOT), reason=WHY_NOT)
def test_no_recorded_count_is_taken_for_a_cut_one() -> None:
    seen = 0
    for one in recorded():
        if one.failed or one.partial or not (usage := one.told.usage):
            continue
        seen += 1
        text = " ".join(texts({name: one.request.get(name) for name in REPLIES}))
        prompt = Prompt((Part("user", f"{text} " * TIMES),), ())
        reply = Reply(usage=Usage(usage[0] * TIMES))
        assert with_size(prompt, reply, 10**9).undercounted is None, (one.id, usage)
    assert seen > 200
