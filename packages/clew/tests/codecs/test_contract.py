"""The contract that ships for other people's codecs, run over our own, and over broken ones."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import count
from typing import Any, ClassVar

import msgspec
import pytest
from typing_extensions import override

from clew.codecs import by_name
from clew.codecs.json_object import JsonObject
from clew.codecs.react_text import Paper
from clew.core.codec import Parsed, PromptSpec
from clew.core.contents import Reply
from clew.core.models import OnText
from clew.core.prompts import Calls, Part
from clew.core.tools import Parameters
from clew.core.trajectory import Step
from clew_testing.codec_contract import CONTRACT, Check, check_codec
from tests.codecs.samples import installed

NAMES = installed(
    "native", "paper", "labelled", "labelled:final", "labelled:conclusion", "json", "code"
)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("check", CONTRACT, ids=lambda check: check.__name__)
def test_codec(check: Check, name: str) -> None:
    check(by_name(name))


def test_the_whole_contract_in_one_call() -> None:
    check_codec(by_name("paper"))


class Nameless(Paper):
    """Has no version."""

    name = "paper"


class Silent(Paper):
    """Does not say which tools there are."""

    @override
    def head(self, prompt_spec: PromptSpec, goal: str) -> tuple[Part, ...]:
        return super().head(replace(prompt_spec, tools=()), goal)


class Moody(Paper):
    """Writes otherwise each time."""

    times: ClassVar[Iterator[int]] = count()

    @override
    def tail(self, prompt_spec: PromptSpec, notes: Sequence[str], step: int) -> tuple[Part, ...]:
        return super().tail(prompt_spec, notes, next(self.times)) if notes else ()


class Backward(Paper):
    """Puts what was said last first."""

    @override
    def render(self, prompt_spec: PromptSpec, step: Step) -> tuple[Part, ...]:
        bare = Step(step.number, step.thought, step.calls)
        parts = super().render(prompt_spec, bare)
        return (*super().render(prompt_spec, step)[len(parts) :], *parts)


class Forgetful(Paper):
    """Loses the last result of a step."""

    @override
    def render(self, prompt_spec: PromptSpec, step: Step) -> tuple[Part, ...]:
        parts = super().render(prompt_spec, step)
        return parts[:-1] if len(step.calls) > 1 else parts


class Blind(Paper):
    """Shows no pictures."""

    @override
    def render(self, prompt_spec: PromptSpec, step: Step) -> tuple[Part, ...]:
        return tuple(Part(part.role, part.text) for part in super().render(prompt_spec, step))


class Tactful(Paper):
    """Does not mention what was wrong."""

    @override
    def render(self, prompt_spec: PromptSpec, step: Step) -> tuple[Part, ...]:
        parts = super().render(prompt_spec, step)
        return parts[:1] if step.thought is not None and step.thought.fault else parts


class Chatty(Paper):
    """Has a tail even where nothing is to be said."""

    @override
    def tail(self, prompt_spec: PromptSpec, notes: Sequence[str], step: int) -> tuple[Part, ...]:
        return (Part("user", " ".join(["Go on!", *notes])),)


class Loose(JsonObject):
    """Lets a last reply call a tool."""

    @override
    def reply_schema(self, prompt_spec: PromptSpec, calls: Calls) -> Parameters | None:
        return super().reply_schema(prompt_spec, "auto")


class Lossy(Paper):
    """Reads arguments without the spaces around them."""

    @override
    def parse(self, prompt_spec: PromptSpec, reply: Reply) -> Parsed:
        parsed = super().parse(prompt_spec, reply)
        return msgspec.structs.replace(
            parsed, actions=tuple(_stripped(action) for action in parsed.actions)
        )


def _stripped(action: Any) -> Any:
    args = {key: v.strip() if isinstance(v, str) else v for key, v in action.args.items()}
    return msgspec.structs.replace(action, args=args)


class Strict(Paper):
    """Raises what should be a fault."""

    @override
    def parse(self, prompt_spec: PromptSpec, reply: Reply) -> Parsed:
        parsed = super().parse(prompt_spec, reply)
        if parsed.fault:
            raise ValueError(parsed.fault)
        return parsed


class Vague(Paper):
    """Says nothing of what was wrong."""

    @override
    def parse(self, prompt_spec: PromptSpec, reply: Reply) -> Parsed:
        return msgspec.structs.replace(super().parse(prompt_spec, reply), fault="")


class Rash(JsonObject):
    """Completes what was cut."""

    @override
    def parse(self, prompt_spec: PromptSpec, reply: Reply) -> Parsed:
        parsed = super().parse(prompt_spec, Reply(reply.text))
        return parsed if parsed.actions else super().parse(prompt_spec, Reply(f'{reply.text}"}}}}'))


class Eager(Paper):
    """Takes the last action of a reply for the one that counts."""

    @override
    def parse(self, prompt_spec: PromptSpec, reply: Reply) -> Parsed:
        return super().parse(
            prompt_spec, Reply(reply.text.rpartition("it worked")[2], (), reply.finish)
        )


class Piecemeal(Paper):
    """Looks at each piece of a stream by itself."""

    @override
    def stream_filter(self, show: Callable[[str], None]) -> OnText:
        def take(piece: str) -> bool:
            show(piece)
            return "Observation" in piece

        return take


class Hasty(Paper):
    """Ends a stream at the first bracket."""

    @override
    def stream_filter(self, show: Callable[[str], None]) -> OnText:
        seen: list[str] = []

        def take(piece: str) -> bool:
            seen.append(piece)
            return "[" in "".join(seen)

        return take


class Slow(Paper):
    """Compares every word with every other."""

    @override
    def parse(self, prompt_spec: PromptSpec, reply: Reply) -> Parsed:
        words = reply.text.split("word ")
        _ = [len(one) for one in words for _ in words]
        return super().parse(prompt_spec, reply)


@pytest.mark.parametrize(
    ("codec", "check"),
    [
        (Nameless, "it_says_what_it_is"),
        (Silent, "the_head_says_prompt_tools_and_goal"),
        (Moody, "what_it_writes_depends_on_its_input"),
        (Backward, "a_prompt_only_grows"),
        (Forgetful, "every_call_has_one_result"),
        (Blind, "pictures_appear_once"),
        (Tactful, "a_fault_is_visible"),
        (Chatty, "the_tail_says_the_notes"),
        (Loose, "the_form_fits_what_it_writes"),
        (Lossy, "what_it_writes_reads_back"),
        (Vague, "any_text_is_read"),
        (Rash, "a_reply_that_was_cut_does_nothing"),
        (Eager, "what_follows_a_stop_sequence_counts_for_nothing"),
        (Piecemeal, "a_stream_is_cut_where_the_reply_ends"),
        (Hasty, "a_stream_is_cut_where_the_reply_ends"),
        (Slow, "work_grows_with_the_length_of_a_reply"),
    ],
)
def test_a_codec_that_breaks_the_contract_is_found(codec: type[Paper], check: str) -> None:
    (broken,) = [each for each in CONTRACT if each.__name__ == check]
    with pytest.raises(AssertionError):
        broken(codec())


def test_an_exception_of_a_codec_is_let_through() -> None:
    with pytest.raises(ValueError, match="empty"):
        check_codec(Strict())
