"""Of what a model wrote it is shown this much, field by field and to the character."""

from typing import Any

import pytest

from clew.context.own_words import bounded, shortened
from clew.core.actions import Action
from clew.core.contents import Observation, RawCall, Reply, Wire, text_parts
from clew.core.events import Note
from clew.core.steps import Call, Step
from clew.core.values import encode
from tests.core.records import thought

REFUSED_CHARS, VISIBLE_CHARS, NAME_CHARS, WIRE_CHARS = 8_000, 100_000, 64, 1_000_000


def left(chars: int, of: int, tail: int) -> str:
    """What stands in the place of a long text of x."""
    head = "x" * (chars - tail)
    return f"{head} [… {of - chars:,} of {of:,} characters are left out here …] {'x' * tail}"


@pytest.mark.parametrize(
    ("chars", "most", "shown"),
    [
        (100, 100, "x" * 100),
        (101, 100, left(100, 101, 20)),
        (5_000, 1_000, left(1_000, 5_000, 200)),
    ],
)
def test_a_long_text_is_shown_with_its_beginning_and_a_fifth_from_its_end(
    chars: int, most: int, shown: str
) -> None:
    assert shortened("x" * chars, most) == shown


def wrote(
    *calls: Call,
    reply: Reply = Reply(),  # noqa: B008 - frozen
    notices: Any = (),
    **fields: Any,
) -> Step:
    actions = tuple(call.action for call in calls)
    return Step(1, thought(*actions, reply=reply, **fields), calls, notices)


def shown(step: Step) -> Step:
    assert step.thought is not None
    return bounded(step, step.thought)


def call(
    name: str = "look", code: Any = None, place: int = 1, fault: str = "", **args: Any
) -> Call:
    seen = None if code is None else Observation(f"1.{place}", "…", ok=not code, code=code)
    return Call(f"1.{place}", Action(name, args, fault=fault), observation=seen)


def raw(**fields: Any) -> Reply:
    named: dict[str, Any] = {"name": ""} | fields
    return Reply(calls=(RawCall(**named),))


def both(text: str) -> list[Step]:
    """A text in each place that a model writes to, counted once."""
    return [
        wrote(reply=Reply(text)),
        wrote(reply=Reply(reasoning=text)),
        wrote(fault=text),
        wrote(text=text),
        wrote(reply=raw(name=text)),
        wrote(reply=raw(arguments=text)),
        wrote(reply=raw(id=text)),
        wrote(notices=(Note(text_parts(text), source="check"),)),
        wrote(Call("1.1", Action("look"), revision=text)),
    ]


PLACES = range(len(both("")))


@pytest.mark.parametrize("place", PLACES)
def test_a_step_is_looked_at_once_what_a_model_wrote_in_it_is_over_8000_characters(
    place: int,
) -> None:
    short, long = both("x" * REFUSED_CHARS)[place], both("x" * (REFUSED_CHARS + 1))[place]
    assert shown(short) is short
    assert shown(long) is not long


def test_what_stands_in_several_places_is_counted_together() -> None:
    def filled(each: str, last: str) -> Step:
        checks = (Note(text_parts(each), source="check"), Note(text_parts(each), source="check"))
        return wrote(
            Call("1.1", Action("look"), revision=each),
            Call("1.2", Action("look"), revision=each),
            reply=Reply(
                each,
                reasoning=each,
                calls=(RawCall(name=each, arguments=each, id=each), RawCall(name=last)),
            ),
            notices=checks,
            text=each,
            fault=each,
        )

    one = filled("x" * 700, "x" * 300)  # 11 times so much, and the rest
    assert shown(one) is one
    two = filled("x" * 700, "x" * 301)
    assert shown(two) is not two


def test_a_person_may_say_as_much_as_they_like() -> None:
    one = wrote(notices=(Note(text_parts("x" * 100_000)),))
    assert shown(one) is one


LONG = 20_000
UNMADE = ["unknown_tool", "invalid_arguments", "denied", "cap"]


def texts(step: Step) -> list[int]:
    """How much is shown of each call's text."""
    return [str(one.action.args["text"]).count("x") for one in shown(step).calls]


def with_reason(*calls: Call) -> Step:
    """Calls of a thought that is long enough to be looked at."""
    return wrote(*calls, reply=Reply(reasoning="r" * (REFUSED_CHARS + 1)))


@pytest.mark.parametrize("code", UNMADE)
def test_of_refused_arguments_less_is_shown(code: str) -> None:
    assert texts(with_reason(call(code=code, text="x" * LONG))) == [REFUSED_CHARS]


@pytest.mark.parametrize("code", [None, "", "timeout", "tool_error"])
def test_of_arguments_of_a_call_that_was_made_all_is_shown(code: str | None) -> None:
    assert texts(with_reason(call(code=code, text="x" * LONG))) == [LONG]
    most = texts(with_reason(call(code=code, text="x" * 2 * VISIBLE_CHARS)))
    assert most == [VISIBLE_CHARS]


def test_a_call_that_could_not_be_read_counts_as_refused() -> None:
    assert texts(with_reason(call(fault="no JSON", text="x" * LONG))) == [REFUSED_CHARS]


def test_calls_share_what_is_shown_of_them_each_by_its_kind() -> None:
    refused = [call(code="denied", place=place, text="x" * LONG) for place in (1, 2, 3, 4)]
    made = call(code="", place=5, text="x" * LONG)
    assert texts(with_reason(*refused, made)) == [*[REFUSED_CHARS // 4] * 4, LONG]
    few = [call(code="denied", place=place, text="x" * 1_000) for place in (1, 2)]
    assert texts(with_reason(*few)) == [1_000, 1_000], "short ones together are shown whole"
    many = [call(code="denied", place=place, text="x" * 1_000) for place in range(1, 101)]
    assert texts(with_reason(*many)) == [200] * 100, "so much at least"


def test_what_together_has_just_the_size_is_shown_whole() -> None:
    bare = len(encode({"text": ""}))
    fits = call(code="denied", text="x" * (REFUSED_CHARS - bare))
    assert shown(with_reason(fits)).calls[0] is fits
    over = call(code="denied", text="x" * (REFUSED_CHARS - bare + 1))
    args = shown(with_reason(over)).calls[0].action.args
    assert args == {"text": "x" * (REFUSED_CHARS - bare + 1)}, "but the text itself is no longer"
    two = [call(code="denied", place=place, text="x" * 4_000) for place in (1, 2)]
    assert texts(with_reason(*two)) == [4_000, 4_000]


def test_texts_of_arguments_share_and_short_ones_are_not_counted() -> None:
    args: Any = {"a": ["x" * LONG, {"b": "x" * LONG}], "short": "y" * 200, "n": 7, "none": None}
    (one,) = shown(with_reason(call(code="denied", **args))).calls
    each = left(REFUSED_CHARS // 2, LONG, REFUSED_CHARS // 10)
    assert one.action.args == {"a": [each, {"b": each}], "short": "y" * 200, "n": 7, "none": None}


def test_what_is_still_too_long_is_shown_as_its_text() -> None:
    args: Any = {"numbers": [*range(10_000)]}
    encoded = encode(args).decode()
    (one,) = shown(with_reason(call(code="denied", **args))).calls
    assert one.action.args == {"shortened": shortened(encoded, REFUSED_CHARS)}
    names: Any = {f"{n:03}" + "k" * 500: 1 for n in range(30)}
    (one,) = shown(with_reason(call(code="denied", **names))).calls
    assert one.action.args == names, "no longer than twice as much"
    names |= {f"{n:03}" + "k" * 500: 1 for n in range(100, 110)}
    (one,) = shown(with_reason(call(code="denied", **names))).calls
    assert one.action.args == {"shortened": shortened(encode(names).decode(), REFUSED_CHARS)}
    long: Any = {"k" * LONG: "v"}
    (one,) = shown(with_reason(call(code="denied", **long))).calls
    assert one.action.args == {shortened("k" * LONG, REFUSED_CHARS): "v"}


@pytest.mark.parametrize(("chars", "whole"), [(NAME_CHARS, True), (NAME_CHARS + 1, False)])
def test_a_name_is_shown_up_to_64_characters(chars: int, whole: bool) -> None:
    name = "n" * chars
    reply = Reply(reasoning="r" * LONG, calls=(RawCall(name=name, arguments="{}"),))
    one = shown(wrote(call(name), reply=reply))
    assert one.thought is not None
    for known in (one.calls[0].action, one.thought.actions[0], one.thought.reply.calls[0]):
        assert (known.name == name) == whole
        assert len(known.name) == NAME_CHARS


def test_what_is_said_of_replaced_arguments_is_bounded_too() -> None:
    one = Call("1.1", Action("look"), revision="x" * (VISIBLE_CHARS + 1))
    assert shown(wrote(one)).calls[0].revision == left(
        VISIBLE_CHARS, VISIBLE_CHARS + 1, VISIBLE_CHARS // 5
    )
    whole = Call("1.1", Action("look"), revision="x" * VISIBLE_CHARS)
    assert shown(wrote(whole)).calls[0] is whole


@pytest.mark.parametrize(
    ("calls", "fault", "most"),
    [
        ((), "", VISIBLE_CHARS),
        ((), "no JSON", REFUSED_CHARS),
        ((call(code="denied"),), "", REFUSED_CHARS),
        ((call(code="denied"), call(code="", place=2)), "", VISIBLE_CHARS),
        ((call(code=""),), "", VISIBLE_CHARS),
    ],
)
def test_of_a_reply_in_vain_less_is_shown(calls: tuple[Call, ...], fault: str, most: int) -> None:
    long = "x" * (2 * VISIBLE_CHARS)
    one = shown(wrote(*calls, reply=Reply(long), text=long, fault=fault, answer=long)).thought
    assert one is not None
    assert (one.reply.text, one.text) == (shortened(long, most), shortened(long, most))
    assert one.answer == shortened(long, VISIBLE_CHARS)
    assert one.fault == fault
    assert one.actions == tuple(each.action for each in calls)


def test_a_fault_and_what_a_check_said_are_bounded() -> None:
    long = "x" * LONG
    said = (Note(text_parts(long), source="check"), Note(text_parts(long)))
    one = shown(wrote(fault=long, notices=said))
    assert one.thought is not None
    assert one.thought.fault == shortened(long, REFUSED_CHARS)
    assert one.thought.answer is None
    check, person = one.notices
    assert isinstance(check, Note)
    assert (check.text, check.source) == (shortened(long, REFUSED_CHARS), "check")
    assert person is said[1]


@pytest.mark.parametrize(("chars", "kept"), [(WIRE_CHARS, True), (WIRE_CHARS + 1, False)])
def test_what_goes_back_word_by_word_is_whole_or_left_out(chars: int, kept: bool) -> None:
    bare = len(encode(Wire("p", "m", "")))
    wire = Wire("p", "m", "w" * (chars - bare))
    one = shown(wrote(reply=Reply("x" * LONG, wire=wire))).thought
    assert one is not None
    assert one.reply.wire == (wire if kept else None)


def raws(*written: tuple[str | None, Call]) -> list[str | None]:
    calls = tuple(one for _, one in written)
    reply = Reply(
        reasoning="r" * LONG,
        calls=tuple(RawCall(name="look", arguments=arguments) for arguments, _ in written),
    )
    one = shown(wrote(*calls, reply=reply)).thought
    assert one is not None
    return [each.arguments for each in one.reply.calls]


def test_the_arguments_as_they_were_written_follow_what_is_shown_of_them() -> None:
    as_it_was = '{"x":   1}'
    assert raws((as_it_was, call(x=1)), (None, call(place=2))) == [as_it_was, None]
    (refused,) = raws(('{"text": "…"}', call(code="denied", text="x" * LONG)))
    (one,) = shown(with_reason(call(code="denied", text="x" * LONG))).calls
    assert refused == encode(one.action.args).decode()
    broken = "{" + "x" * LONG
    faults = [(broken, call(fault="no JSON", place=place)) for place in (1, 2)]
    assert raws(*faults) == [shortened(broken, REFUSED_CHARS // 2)] * 2
    assert raws((None, call(fault="no JSON"))) == [None]
    many = [(broken, call(fault="no JSON", place=place)) for place in range(1, 61)]
    assert raws(*many) == [shortened(broken, 200)] * 60


def test_raw_calls_that_were_read_otherwise_stay_as_they_are() -> None:
    reply = Reply(reasoning="r" * LONG, calls=(RawCall(name="look", arguments="x" * LONG),))
    one = shown(wrote(reply=reply)).thought
    assert one is not None
    assert one.reply.calls == reply.calls


@pytest.mark.parametrize("chars", [200, 201])
def test_an_id_that_no_provider_gives_is_left_out(chars: int) -> None:
    reply = Reply(
        reasoning="r" * LONG, calls=(RawCall(name="look", arguments="{}", id="i" * chars),)
    )
    one = shown(wrote(call(), reply=reply)).thought
    assert one is not None
    assert one.reply.calls[0].id == ("i" * chars if chars == 200 else "")
