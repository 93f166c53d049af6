"""When the end of a prompt says a person's words anew, and which tools a reply may not call."""

from dataclasses import replace
from typing import Any

import msgspec
import pytest

from clew import Agent
from clew.context.view import digest, first_prompt, next_prompt, plain
from clew.core.actions import Action
from clew.core.contents import Image, Observation, RawCall, Reply, Wire, text_parts
from clew.core.events import AnyEvent, Compacted, Judged, Note, Rewound, Stop, Thought
from clew.core.prompts import Part, Prompt
from clew.core.tools import Tool
from clew.core.trajectory import WITHHELD, Trajectory
from clew.core.verdicts import Verdict
from clew.testing.models import ScriptedModel
from tests.core.records import look, more, record, thought

CODE: Any = "repeated_same_tool_call_too_many_times"


async def called(args: Any, key: str) -> str:
    return ""


def tool(name: str, effect: Any = "read") -> Tool:
    return Tool(name, "Do.", {"type": "object"}, effect=effect, call=called)


TOOLS = [tool("look"), tool("ask"), tool("post", "unsafe")]


def prompt(run: Trajectory, *reminders: str, codec: str = "native", **spec: Any) -> Prompt:
    engine = Agent(ScriptedModel([]), TOOLS, codec=codec).engine
    brief = replace(engine.prompt_spec, **spec)
    got, _ = next_prompt(engine.codec, brief, {}, 0, run, reminders, "auto")
    return got


def end(run: Trajectory, **spec: Any) -> str:
    return "\n".join(part.text for part in prompt(run, **spec).tail).removeprefix("NOTE: ")


def prose(chars: int) -> str:
    return ("to be read " * chars)[:chars]


def said(text: str, **more: Any) -> Note:
    return Note(text_parts(text), **more)


@pytest.mark.parametrize(("chars", "again"), [(24_000, False), (24_001, True)])
def test_the_question_is_said_again_after_24_000_characters(chars: int, again: bool) -> None:
    run = record(thought(look()), Observation("1.1", prose(chars)))
    size = sum(len(part.text) for part in prompt(run).parts)
    run = record(thought(look()), Observation("1.1", prose(2 * chars - size)))
    assert sum(len(part.text) for part in prompt(run).parts) == chars
    assert end(run) == ("The question again: Where?" if again else "")


def test_the_characters_of_several_steps_add_up() -> None:
    run = record(thought(look()), Observation("1.1", prose(11_000)))
    more(run, thought(look()), Observation("2.1", prose(11_000)))
    assert end(run) == ""
    more(run, thought(look()), Observation("3.1", prose(3_000)))
    assert end(run) == "The question again: Where?"
    more(run, thought(look()), Observation("4.1", prose(23_000)))
    assert end(run) == "", "they are counted from where it was said again"
    more(run, thought(look()), Observation("5.1", prose(1_000)))
    assert end(run) == "The question again: Where?"


def test_what_a_person_last_said_is_said_again_and_then_counted_anew() -> None:
    long = Observation("1.1", prose(25_000))
    run = record(said("Never mind."), said("And when?"), thought(look()), long)
    assert end(run) == "The person's last words again: Never mind.\n\nAnd when?"
    more(run, thought(look()), Observation("2.1", "z"))
    assert end(run) == "", "it was said again before the second thought"
    assert (
        prompt(run).parts[-3].text
        == "NOTE: The person's last words again: Never mind.\n\nAnd when?"
    )
    more(run, thought(look()), Observation("3.1", prose(25_000)), said("Stop."))
    assert end(run) == ""
    refused = record(said("Bad words"), Stop("refused"), said("Good."), thought(look()), long)
    assert end(refused) == "The person's last words again: Good."
    check = record(thought(look()), long, said("no", source="check"))
    assert end(check) == "The question again: Where?"
    assert WITHHELD not in end(refused)


@pytest.mark.parametrize("chars", [1_000, 1_001])
def test_of_long_words_the_two_ends_are_said_again(chars: int) -> None:
    goal = "".join(chr(ord("a") + n % 26) for n in range(chars))
    run = record(thought(look()), Observation("1.1", prose(25_000)), goal=goal)
    words = goal if chars == 1_000 else f"{goal[:500]} […] {goal[-500:]}"
    assert end(run) == f"The question again: {words}"


@pytest.mark.parametrize(
    ("reply", "fault", "lost"),
    [
        (Reply(""), "nothing", True),
        (Reply(" \n"), "nothing", True),
        (Reply("x"), "no JSON", False),
        (Reply("x", finish="length"), "cut", True),
        (Reply("x", finish="filter"), "cut", True),
        (Reply("x", finish="refusal"), "cut", True),
        (Reply("x", finish="cut"), "cut", True),
        (Reply("x", finish="length"), "", False),
        (Reply(""), "", False),
    ],
)
def test_after_a_reply_that_was_lost_it_is_said_where_that_is_wanted(
    reply: Reply, fault: str, lost: bool
) -> None:
    run = record(thought(reply=reply, fault=fault))
    assert end(run, repeat_question=True) == ("The question again: Where?" if lost else "")
    assert end(run) == ""


def test_reminders_come_after_it_and_stay_where_they_were() -> None:
    run = record(thought(look()), Observation("1.1", prose(25_000)))
    got = prompt(run, "One.", "Two.")
    assert "\n".join(part.text for part in got.tail).split("\n")[-2:] == ["One.", "Two."]
    later = record(Thought(Reply(), thought().prints, actions=(look(),), reminders=("One.",)))
    assert prompt(later).parts[0].text.startswith("NOTE: One.")


def held(run: Trajectory) -> set[str]:
    """The tools that the schema of the next reply does not have."""
    got = prompt(run, codec="json", withhold=True)
    whole = prompt(run, codec="json")
    names = {"look", "ask", "post"}
    assert all(f'"{name}"' in str(msgspec.json.encode(whole.reply_schema)) for name in names)
    shown = str(msgspec.json.encode(got.reply_schema))
    return {name for name in names if f'"{name}"' not in shown}


def again(seen: Observation, *before: AnyEvent, first: Action | None = None) -> Trajectory:
    """A run that makes a call a second time."""
    call = first or look(x=1)
    run = record(thought(call), Observation("1.1", "a"), thought(look(x=1)))
    return more(run, *before, seen)


class TestWithheld:
    def test_is_what_was_refused_as_a_repetition(self) -> None:
        refused = Observation("2.1", "no", ok=False, code=CODE)
        assert held(again(refused)) == {"look"}
        assert held(more(again(refused), said("Go on."))) == set()
        assert held(more(again(refused), thought(Action("ask")), Observation("3.1", "b"))) == set()
        assert held(record()) == set()

    def test_is_what_a_hint_called_one_if_the_result_is_no_other(self) -> None:
        hint = Judged("2.1", Verdict("hint", "again", code=CODE), "NoProgress")
        assert held(again(Observation("2.1", "a"), hint)) == {"look"}
        assert held(again(Observation("2.1", "b"), hint)) == set()
        assert held(again(Observation("2.1", "a"))) == set()
        other = Judged("2.1", Verdict("hint", "again"), "NoProgress")
        assert held(again(Observation("2.1", "a"), other)) == set()
        assert held(again(Observation("2.1", "a"), hint, first=look(x=2))) == set()

    def test_is_what_could_not_be_made_twice(self) -> None:
        wrong: dict[str, Any] = {"ok": False, "code": "invalid_arguments"}
        assert held(again(Observation("2.1", "a", **wrong))) == {"look"}
        assert held(again(Observation("2.1", "b", **wrong))) == set()
        failed: dict[str, Any] = {"ok": False, "code": "tool_error"}
        assert held(again(Observation("2.1", "a", **failed))) == set()

    def test_goes_by_the_last_result_in_view(self) -> None:
        hint = Judged("3.1", Verdict("hint", "again", code=CODE), "NoProgress")
        run = record(
            thought(look(x=1)), Observation("1.1", "a"), thought(look(x=1)),
            Observation("2.1", "b"), thought(look(x=1)), hint, Observation("3.1", "a"),
        )  # fmt: skip
        assert held(run) == set()
        back = record(
            thought(look(x=1)), Observation("1.1", "a"), thought(look(x=1)),
            Observation("2.1", "b"), Rewound(1, "no", "Ada"), thought(look(x=1)), hint,
            Observation("3.1", "a"),
        )  # fmt: skip
        assert held(back) == {"look"}

    @pytest.mark.parametrize(
        ("by", "calls", "names"),
        [
            ("clew: repeated", (look(),), {"look"}),
            ("clew: rejected", (look(), Action("post")), {"look", "post"}),
            ("clew: critic", (look(), Action("ask")), set()),
            ("Ada", (look(),), set()),
            ("model", (look(),), set()),
        ],
    )
    def test_is_what_a_branch_began_with(self, by: str, calls: Any, names: set[str]) -> None:
        rows: list[AnyEvent] = [thought(Action("ask")), Observation("1.1", "a"), thought(*calls)]
        rows += [Observation(f"2.{n}", "b") for n in range(1, len(calls) + 1)]
        assert held(record(*rows, Rewound(1, "no", by))) == names


def test_a_compaction_a_rewind_and_a_word_change_what_was_rendered() -> None:
    engine = Agent(ScriptedModel([]), TOOLS).engine

    def texts(run: Trajectory) -> list[str]:
        got, prints = next_prompt(engine.codec, engine.prompt_spec, {}, 0, run, (), "auto")
        fresh, same = next_prompt(
            engine.codec, engine.prompt_spec, {}, 0, record(*[e.event for e in run.entries[1:]]),
            (), "auto",
        )  # fmt: skip
        assert prints == same
        assert [plain(part) for part in got] == [plain(part) for part in fresh]
        return [part.text for part in got.parts]

    run = record(thought(look(x=1)), Observation("1.1", "one"))
    assert "one" in texts(run)
    more(run, thought(look(x=2)), Observation("2.1", "two"))
    assert "two" in texts(run)
    more(run, said("Hm."))
    assert "Hm." in texts(run)[-1]
    more(run, Compacted("mask", "w", 1, cuts={"1.1": "[cut]"}))
    assert "[cut]" in texts(run)
    assert "one" not in texts(run)
    more(run, Rewound(1, "Not there."))
    assert "two" not in texts(run)
    more(run, thought(look(x=3)), Observation("3.1", "three"))
    assert texts(run)[-1] == "three"
    more(run, thought(look(x=4)), Observation("4.1", "four"), Rewound(0, "Nowhere."))
    assert "[cut]" not in texts(run)
    assert "three" not in texts(run)


def test_a_part_is_told_apart_by_all_that_is_said_in_it() -> None:
    base = Part("user", "a")
    others = [
        Part("assistant", "a"), Part("user", "b"), Part("user", "a", calls=(RawCall(name="x"),)),
        Part("user", "a", call_id="1"), Part("user", "a", name="n"),
        Part("user", "a", wire=Wire("p", "m")),
        Part("user", "a", attachments=(Image("i/p", blob="b"),)),
    ]  # fmt: skip
    prints = [digest(plain(one)) for one in (base, *others)]
    assert len({*prints}) == len(prints)
    assert all(len(one) == 16 for one in prints)
    assert digest(plain(Part("user", "a", encoded={"x": b"1"}))) == prints[0]


@pytest.mark.parametrize(("codec", "declared"), [("native", 4), ("json", 0)])
def test_a_first_prompt_declares_tools_in_native_formats(codec: str, declared: int) -> None:
    engine = Agent(ScriptedModel([]), TOOLS, codec=codec).engine
    got = first_prompt(engine.codec, engine.prompt_spec)
    assert (len(got.tools), len(got.parts), got.calls) == (declared, 0, "auto")
    assert "…" in got.head[-1].text
    assert (got.reply_schema is None) == (codec == "native")
    assert got.stop == engine.codec.stop
