"""Calls that a model wrote into its text, in the spellings that its training gave it.

Servers turn these into native calls where they know the model's template; where they do not, they
come as text. One grammar reads them all: marks (special tokens, tags, brackets) only say that a
call follows, and the call itself is an object, a tag with parameters, a name with an object behind
it, or an expression of Python.

Values are read from the text as it came: nothing is removed or unescaped but by the rules of the
spelling. A call that is not closed says so (`WrittenCall.open`), for a reply that was cut looks the
same; what could be read in two ways is a problem.
"""

from typing import Final, Protocol

import msgspec

from clew.codecs.call_marks import BETWEEN, Marks
from clew.codecs.named_calls import named_ahead
from clew.codecs.object_calls import named_in_object
from clew.codecs.python_calls import in_python
from clew.codecs.tagged_calls import own_tag, tagged
from clew.codecs.written_calls import ParsedCalls, WrittenCall
from clew.core.codec import PromptSpec

MAX_CALLS: Final = 64
"""Calls that are read in one reply."""


class _CallReader(Protocol):
    def __call__(
        self, prompt_spec: PromptSpec, text: str, at: int, *, marked: bool
    ) -> ParsedCalls | None: ...


_READERS: Final[tuple[_CallReader, ...]] = (
    tagged,
    own_tag,
    named_in_object,
    named_ahead,
    in_python,
)


def calls_at(
    prompt_spec: PromptSpec, text: str, at: int, *, marked: bool
) -> tuple[list[WrittenCall], int]:
    """The calls that stand one behind the other from `at` on, and where they end.

    Behind a mark any name is one of a tool; without one, only what could hardly be anything else
    is a call.
    """
    calls: list[WrittenCall] = []
    marks = Marks()
    while len(calls) < MAX_CALLS:
        if (between := BETWEEN.match(text, at)) is not None:
            at = between.end()
            marks.take(between[0])
        written_call = next(
            filter(None, (read(prompt_spec, text, at, marked=marked) for read in _READERS)), None
        )
        if written_call is None:
            break
        marks.take(written_call.marks)
        calls += written_call.calls
        at = written_call.end
    if why := marks.open:
        calls = [each if each.open else msgspec.structs.replace(each, open=why) for each in calls]
    return calls, at
