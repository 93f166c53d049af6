"""What every codec must do, as checks to run over one's own.

A codec is pure, so each check takes the codec itself. With pytest:

```python
@pytest.mark.parametrize("check", CONTRACT, ids=lambda check: check.__name__)
def test_my_codec(check: Check) -> None:
    check(MyCodec())
```

Work is measured in calls that Python makes, never in seconds. A regular expression that goes back
over its text is one call, and is not found: look at those yourself.
"""

import copy
import json
import random
import sys
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeAlias

from msgspec.structs import replace

from clew import Image, Observation, Step
from clew.core.codes import Finish
from clew.core.contents import text_parts
from clew.interfaces import (
    FINISH,
    Action,
    AgentSpec,
    Changed,
    Codec,
    Compacted,
    Landing,
    Note,
    Parsed,
    Part,
    PromptSpec,
    Reply,
    Rewound,
    Text,
    encode,
)
from clew.tools.schema import problems
from clew_testing.codec_further import further_tools_are_described_as_in_the_head
from clew_testing.codec_samples import (
    ACTIONS,
    NOISE,
    POINT,
    THOUGHTS,
    TOOLS,
    UNSAFE,
    example,
    prompt_spec,
    replies,
    step,
    texts,
    written,
)
from clew_testing.expect import expect, require

Check: TypeAlias = Callable[[Codec], None]
"""A part of the contract; raises `AssertionError`, or what the codec raised, if it is broken."""

SEED: Final = 20221006
TIMES: Final = 300
"""How many texts each check reads, beside those that the codec writes itself."""

CUT_SHORT: Final[tuple[Finish, ...]] = ("length", "filter", "refusal", "cut")
WORK: Final = 4_000
"""The length in characters at which work is first measured; then at twice that."""


def check_codec(codec: Codec) -> None:
    """Run the whole contract."""
    for check in CONTRACT:
        check(codec)


# ----------------------------------------------------------------------------------- writing


def it_says_what_it_is(codec: Codec) -> None:
    """The name is `name/version` and stands in records; stop sequences are texts."""
    name, slash, version = codec.name.partition("/")
    require(name and slash and version, f"its name must be name/version, not {codec.name!r}")
    require(codec.name.isprintable(), f"its name {codec.name!r} must be of one line")
    require(all(codec.stop), "a stop sequence is empty: every reply would end at once")
    expect(codec.native in {True, False}, True, "native is a bool")


def the_head_says_prompt_tools_and_goal(codec: Codec) -> None:
    """The goal is the person's last word; a text codec describes every tool, for nobody else does.

    Worked examples are shown, and without thoughts none is shown in them.
    """
    asked = prompt_spec(examples=(example(),))
    head = codec.head(asked, "Why is the sky blue?")
    require("Why is the sky blue?" in head[-1].text, "the last part of the head must hold the goal")
    expect(head[-1].role, "user", "the role of the goal")
    head_text = "\n".join(map(_part_text, head))
    require("Be brief, and be right." in head_text, "the head must hold the prompt")
    require(
        "What is Rome?" in head_text and "So it is." in head_text, "the head must show the examples"
    )
    for tool in () if codec.native else TOOLS:
        for word in (tool.name, *tool.parameters["properties"]):
            require(word in head_text, f"the head must describe {tool.name}: {word} is missing")
    silent = codec.head(prompt_spec(examples=(example(),), thought=False), "Why?")
    silent_text = "\n".join(map(_part_text, silent))
    require(
        codec.native or "So it is." not in silent_text, "without thoughts an example shows none"
    )


def _all_of(asked: PromptSpec, steps: Sequence[Step]) -> str:
    """Everything in it, of tools more than they show of themselves."""
    return repr(([vars(tool) for tool in asked.tools], asked, steps))


def what_it_writes_depends_on_its_input(codec: Codec) -> None:
    """Head, steps, tail, form and reading are the same each time, and change nothing they get."""
    asked, steps = prompt_spec(), [step(thought, each) for thought in THOUGHTS for each in ACTIONS]
    before = _all_of(asked, steps)

    def all_of_it() -> list[Any]:
        parts = [codec.render(asked, copy.deepcopy(each)) for each in steps]
        parts += [codec.head(asked, "Why?"), codec.tail(asked, ["3 steps left."], 4)]
        reads = [codec.parse(asked, reply) for reply in replies(parts[1])]
        told = [[_plain(part) for part in some] for some in parts]
        return [told, reads, codec.reply_schema(asked, "auto"), codec.reply_schema(asked, "none")]

    first = all_of_it()
    for each in steps:
        codec.render(asked, each)
    expect(all_of_it(), first, "the same again, after other work")
    expect(_all_of(asked, steps), before, "what it was given, afterwards")


def a_prompt_only_grows(codec: Codec) -> None:
    """What is said after a step comes behind it: what was rendered stays as it was."""
    for each in (
        step("Hm.", ACTIONS[0]),
        step("", ACTIONS[-1]),
        _faulty("hm", "no action"),
        Step(0),
    ):
        before = [_plain(part) for part in codec.render(prompt_spec(), each)]
        told = ["And Rome?", "no source is named", "it arrived", "limit-on-words"]
        told += ["a fact of last week", "steps 1 to 7", "the wrong harbour"]
        each.notices += (
            Note(text_parts(told[0])),
            Note(text_parts(told[1]), source="check"),
            Note(text_parts(told[2]), source="late"),
            Landing(told[3]),
            Note(text_parts(told[4]), source="memory"),
            Compacted("mask", "", 0, text=told[5]),
            Rewound(2, told[6]),
            Changed(AgentSpec("", "", "", "")),
        )
        after = codec.render(prompt_spec(), each)
        expect([_plain(part) for part in after[: len(before)]], before, "the parts, with more said")
        rest = after[len(before) :]
        for text in told:
            where = [part for part in rest if text in part.text]
            expect([part.role for part in where], ["user"], f"the role of what says {text!r}")


def every_call_has_one_result(codec: Codec) -> None:
    """Each call of a step is told, and each of its observations once, in order, with remarks."""
    seen = [Observation(content=f"result number {number}") for number in range(3)]
    seen[1] = Observation(content={"found": "result number 1"}, ok=False, code="tool_error")
    written_step = step("All.", *ACTIONS[:2], ACTIONS[6], seen=seen, hint="mind it")
    written_step.calls[2].revise({"query": "edited"})
    parts = codec.render(prompt_spec(), written_step)
    indexes = [index for index, part in enumerate(parts) if "result number" in part.text]
    expect(len(indexes), 3, "the parts with a result")
    for index, part in enumerate(parts[at] for at in indexes):
        require(part.role in {"user", "tool"}, f"a result has the role {part.role}")
        expect(part.text.count(f"result number {index}"), 1, f"result {index}, in its place")
        require("mind it" in part.text, "a guard's hint must stand with the result")
        edited = 'the arguments were changed to {"query":"edited"} by a person' in part.text
        expect(edited, index == 2, f"what call {index} was made with, told with its result")
    told = [
        action for reply in replies(parts) for action in codec.parse(prompt_spec(), reply).actions
    ]
    expect(told, [*ACTIONS[:2], ACTIONS[6]], "the calls, read back")
    made = [call.id for part in parts for call in part.calls]
    answered = [part.call_id for part in parts if part.role == "tool"]
    expect(answered, made, "the calls that tools' parts answer")
    require(all(made) and len(set(made)) == len(made), "ids of calls must be there and differ")


def pictures_appear_once(codec: Codec) -> None:
    """Images of an observation or a message go to the model, in a part that may carry them."""
    image = Image("image/png", b"png", "a map")
    seen = [Observation(content="here", attachments=(image,))]
    parts = codec.render(prompt_spec(), step("", ACTIONS[6], seen=seen))
    with_images = [part for part in parts if part.attachments]
    expect([part.attachments for part in with_images], [(image,)], "the parts with images")
    role = "tool" if codec.native else "user"
    expect([part.role for part in with_images], [role], "the role of a part with images")
    message = Note((Text("Look:"), image))
    parts = codec.render(prompt_spec(), Step(0, notices=(message,)))
    looks = [(part.role, part.attachments) for part in parts if "Look:" in part.text]
    expect(looks, [("user", (image,))], "a message with an image")


def a_fault_is_visible(codec: Codec) -> None:
    """A reply that could not be read is shown as the assistant's, and what was wrong with it."""
    parts = codec.render(prompt_spec(), _faulty("I would rather sing.", "there is no action in it"))
    expect([part.role for part in parts], ["assistant", "user"], "the parts of a faulty reply")
    require("rather sing" in parts[0].text, "a faulty reply must be shown")
    require("there is no action in it" in parts[1].text, "the fault must be shown")
    expect(parts[0].calls, (), "the calls of a faulty reply")
    empty = codec.render(prompt_spec(), _faulty("", "it was empty"))
    require(empty[0].text.strip(), "an empty part is refused by providers: say something")


def the_tail_says_the_notes(codec: Codec) -> None:
    """What must be said anew is said in order; where there is nothing, there is no tail."""
    expect(codec.tail(prompt_spec(), [], 2), (), "a tail with nothing to say")
    tail_text = "\n".join(
        part.text for part in codec.tail(prompt_spec(), ["2 calls left.", "Hurry."], 2)
    )
    require(
        0 <= tail_text.find("2 calls left.") < tail_text.find("Hurry."),
        "the tail must say the notes",
    )


def the_form_fits_what_it_writes(codec: Codec) -> None:
    """A schema for replies is met by the codec's own; where no call may be made, by none but the
    answer.
    """
    answer = written(codec, "Done.", Action(FINISH, {"answer": "Paris"}))
    if (form := codec.reply_schema(prompt_spec(), "auto")) is not None:
        for action in (each for each in ACTIONS if each.name != "stranger"):
            document = json.loads(written(codec, "Hm.", action).text)
            expect(
                problems(form, document, "field"), [], f"what is wrong with a call of {action.name}"
            )
    if (last := codec.reply_schema(prompt_spec(), "none")) is not None:
        expect(problems(last, json.loads(answer.text), "field"), [], "what is wrong with an answer")
        call = json.loads(written(codec, "Hm.", ACTIONS[0]).text)
        require(problems(last, call, "field"), "the form of a last reply must leave out calls")


# ----------------------------------------------------------------------------------- reading


def what_it_writes_reads_back(codec: Codec) -> None:
    """A thought and an action, written and read, are the same, and nothing had to be mended."""
    for thought in THOUGHTS:
        for action in ACTIONS:
            reply = written(codec, thought, action)
            wanted = Parsed(thought, (action,))
            expect(codec.parse(prompt_spec(), reply), wanted, f"{reply.text!r}, read back")
    typed = prompt_spec(POINT)
    for value in ({"x": 1}, {"x": -1, "y": 2}):
        action = Action(FINISH, {"answer": value})
        (reply,) = replies(codec.render(typed, step("", action)))
        expect(codec.parse(typed, reply).actions, (action,), f"{reply.text!r}, read back")


def any_text_is_read(codec: Codec) -> None:
    """Whatever a model says is read without an exception, and always alike: as actions, as an
    answer, or as a fault that says in words what was wrong.
    """
    for text in texts(codec, SEED, TIMES):
        for asked in (prompt_spec(), prompt_spec(POINT, tools=(), known=frozenset())):
            parsed = codec.parse(asked, Reply(text))
            expect(codec.parse(asked, Reply(text)), parsed, f"{text!r}, read again")
            _check_parsed(parsed, text)


def a_reply_that_was_cut_does_nothing(codec: Codec) -> None:
    """No part of a call that has effects is ever made of a reply that ended too early."""
    reply = written(codec, "I move it.", UNSAFE)
    cuts = [Reply(reply.text[:at], (), reply.finish) for at in range(len(reply.text))]
    if reply.calls:
        text = reply.calls[0].arguments or ""
        cuts += [_with_arguments(reply, text[:at]) for at in range(len(text))]
    for one in cuts:
        for finish in CUT_SHORT:
            cut = Reply(one.text, one.calls, finish)
            expect(codec.parse(prompt_spec(), cut).actions, (), f"{cut!r}, read")


def what_follows_a_stop_sequence_counts_for_nothing(codec: Codec) -> None:
    """A server that does not know stop sequences changes nothing: what is invented is dropped."""
    for action in ACTIONS[:-1]:
        alone = written(codec, "I look.", action)
        second = written(codec, "Now I move it.", UNSAFE)
        for stop in codec.stop:
            text = f"{alone.text}{stop} 1: it worked\n{second.text}"
            parsed = codec.parse(prompt_spec(), Reply(text))
            expect((parsed.text, parsed.actions), ("I look.", (action,)), f"{text!r}, read")


def a_stream_is_cut_where_the_reply_ends(codec: Codec) -> None:
    """What is shown of a stream does not depend on its pieces; once it says stop it says it again,
    and what would have come then changes nothing of what is read.
    """
    chance = random.Random(SEED)  # noqa: S311 - repeatable, not secret
    for text in texts(codec, SEED + 1, TIMES):
        complete = streamed(codec, [text])
        at = chance.randrange(len(text) + 1)
        for pieces in (list(text), [text[:at], text[at:]]):
            visible, end = streamed(codec, pieces)
            expect(
                (visible, end > 0), (complete[0], complete[1] > 0), f"{text!r}, streamed otherwise"
            )
        if (end := streamed(codec, list(text))[1]) > 0:
            before, after = (codec.parse(prompt_spec(), Reply(some)) for some in (text[:end], text))
            expect(_counted(before), _counted(after), f"{text!r}, cut where its stream ended")


def work_grows_with_the_length_of_a_reply(codec: Codec) -> None:
    """Twice the text is at most twice the work, for `parse` and for a stream, however it looks."""
    start = written(codec, "I look.", ACTIONS[0]).text
    half = start[: len(start) * 2 // 3]
    for unit in (*NOISE, "x", "word ", start, half, f"{start}\n", *codec.stop):
        for before in ("", half):
            works = [
                _calls(lambda text=text: codec.parse(prompt_spec(), Reply(text)))  # type: ignore[misc]  # mypy cannot infer a lambda with a default
                for text in (before + unit * (size // len(unit)) for size in (WORK, 2 * WORK))
            ]
            require(works[1] <= 2.2 * works[0] + 200, f"reading {unit!r} many times took {works}")
    for unit in ("word ", start, half):
        works = [
            _calls(lambda text=text: streamed(codec, list(text)))  # type: ignore[misc]  # mypy cannot infer a lambda with a default
            for text in (unit * (size // len(unit)) for size in (WORK, 2 * WORK))
        ]
        require(works[1] <= 2.2 * works[0] + 200, f"streaming {unit!r} many times took {works}")


CONTRACT: Final[tuple[Check, ...]] = (
    it_says_what_it_is,
    the_head_says_prompt_tools_and_goal,
    further_tools_are_described_as_in_the_head,
    what_it_writes_depends_on_its_input,
    a_prompt_only_grows,
    every_call_has_one_result,
    pictures_appear_once,
    a_fault_is_visible,
    the_tail_says_the_notes,
    what_it_writes_reads_back,
    the_form_fits_what_it_writes,
    any_text_is_read,
    a_reply_that_was_cut_does_nothing,
    what_follows_a_stop_sequence_counts_for_nothing,
    a_stream_is_cut_where_the_reply_ends,
    work_grows_with_the_length_of_a_reply,
)
"""Every check, in an order that meets simple faults first."""


def streamed(codec: Codec, pieces: list[str]) -> tuple[str, int]:
    """What a stream in these pieces shows, and after how many characters it is ended (0: never)."""
    visible: list[str] = []
    take = codec.stream_filter(visible.append)
    end = at = 0
    for piece in pieces:
        at += len(piece)
        if take(piece):
            end = end or at
        else:
            expect(end, 0, "a stream that was ended goes on: where it was ended")
    return "".join(visible), end


def _part_text(part: Part) -> str:
    """All that a part says, its calls too."""
    return f"{part.text} {encode(part.calls).decode()}"


def _plain(part: Part) -> tuple[Any, ...]:
    """A part as a value to compare."""
    return (part.role, part.text, part.calls, part.call_id, part.name, part.attachments)


def _faulty(text: str, fault: str) -> Step:
    return step(reply=Reply(text), fault=fault)


def _counted(parsed: Parsed) -> tuple[Any, ...]:
    return (parsed.text, parsed.actions, parsed.answer, bool(parsed.fault))


def _check_parsed(parsed: Parsed, text: str) -> None:
    """A reading must be one thing, and such that a record can hold it."""
    counts = [bool(parsed.actions), parsed.answer is not None, bool(parsed.fault.strip())]
    expect(sum(counts), 1, f"{text!r} is actions, an answer or a fault: how many of these")
    for action in parsed.actions:
        require(action.name and encode(action.args), f"{text!r}: an action has no name")


def _with_arguments(reply: Reply, text: str) -> Reply:
    """A reply whose call was cut."""
    call = reply.calls[0]
    return Reply(reply.text, (replace(call, arguments=text),), reply.finish)


def _calls(work: Callable[[], object]) -> int:
    """How many calls, of Python or C functions, a piece of work makes."""
    made = 0

    def count(_frame: object, event: str, _arg: object) -> None:
        nonlocal made
        made += event in {"call", "c_call"}

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(before)
    return made
