"""What the figures of lab/reports/context.md are made with: a server that counts, talks."""

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.context import others, talks
from benchmarks.context.long_runs import FACT, breaks, page_text
from benchmarks.context.real_talks import mini
from benchmarks.context.references import Conversation
from clew.core.contents import RawCall, Reply
from clew.core.events import Compacted
from clew_testing.servers.http_server import Fail, Say, Send
from recordings.native_talks import Seen, Talk, Turn

LIMIT = 2_000


def asked(*texts: str, tools: bool = True) -> dict[str, Any]:
    messages = [{"role": "user", "content": text} for text in texts]
    return {"model": "local", "messages": messages} | ({"tools": [{}]} if tools else {})


def said(answer: Send | Fail) -> dict[str, Any]:
    assert isinstance(answer, Send)
    message: dict[str, Any] = json.loads(answer.body)["choices"][0]["message"]
    return message


def test_the_server_counts_prompts_breaks_and_what_is_over_the_window() -> None:
    book = others.Book((Say("done"),), steps=2, window=LIMIT)
    first = said(book(asked("a" * 400)))
    assert json.loads(first["tool_calls"][0]["function"]["arguments"]) == {"number": 1}
    second = said(book(asked("a" * 400, "b" * 400)))
    assert first["tool_calls"][0]["id"] != second["tool_calls"][0]["id"]
    assert isinstance(book(asked("a" * 9_000)), Fail)
    assert said(book(asked("c" * 400, FACT)))["content"] == "done"
    assert (book.overflows, book.summaries, book.has_fact) == (1, 0, True)
    assert len(breaks(book.sent)) == 1
    assert 300 < book.new < book.total < 700
    assert book.new < book.weighed < book.total


@pytest.mark.parametrize("shown", [FACT, "nothing"])
def test_a_summary_keeps_the_fact_where_it_was_shown(shown: str) -> None:
    book = others.Book((), window=LIMIT)
    text = said(book(asked(f"Sum it up: {shown}", tools=False)))["content"]
    assert (FACT in text) == (shown == FACT)
    assert book.summaries == 1
    assert book.sent == []


async def test_the_run_under_clew_is_counted_as_the_others_are() -> None:
    one = await others.ours(*next(iter(others.OURS.items())))
    assert not one.failed
    assert one.book.has_fact
    assert one.book.largest <= others.WINDOW
    assert len(one.book.sent) == others.STEPS + 2
    assert one.row.endswith("| 0 | 4 | 0 | yes |")


def long_talk(steps: int) -> Talk:
    """Each step reads a page; the last one names what stood in the third."""
    tool = {"name": "page", "description": "Read.", "parameters": {"type": "object"}}
    numbers = [json.dumps({"number": str(number)}) for number in range(steps)]
    numbers[-1] = json.dumps({"where": "Brannock"})
    turns = [
        Turn(
            Reply("", (RawCall(name="page", arguments=one, id=f"c{place}"),), "calls"),
            (Seen(page_text(place), ok=True),),
            "",
            (),
        )
        for place, one in enumerate(numbers)
    ]
    return Talk("long", [tool], "Where is the ledger?", tuple(turns))


async def test_a_recorded_conversation_is_driven_in_a_window() -> None:
    talk = long_talk(20)
    whole = await talks.drive(talk, "Be brief.", None, 10**9)
    less = await talks.drive(talk, "Be brief.", ("drop",), 4_000)
    assert len(whole.sent) == len(less.sent) == 20
    assert less.compactions > 2
    assert len(breaks(less.sent)) == less.compactions + 1, "read_more was shown before the first"
    assert any(isinstance(entry.event, Compacted) for entry in less.record.entries)
    conversation = Conversation(whole.record)
    assert [one.text for one in conversation.references] == ["Brannock"]
    everything, little = talks.Counted(), talks.Counted()
    everything.add("all", conversation, whole)
    little.add("drop", conversation, less)
    assert (everything.in_view, everything.recalled) == (1, 0)
    assert (little.in_view, little.recalled, little.lost) == (0, 1, [])
    assert little.total < everything.total / 2


def test_a_trajectory_of_mini_swe_agent_is_read(tmp_path: Path) -> None:
    def reply(id_: str, command: str) -> dict[str, Any]:
        function = {"name": "bash", "arguments": json.dumps({"command": command})}
        return {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": id_, "function": function}],
        }

    messages = [
        {"role": "system", "content": "Use the shell."},
        {"role": "user", "content": "Mend it."},
        reply("a", "ls"),
        {"role": "tool", "tool_call_id": "a", "content": "src"},
        {"role": "user", "content": "No tool calls found in the response."},
        reply("b", "echo COMPLETE"),
        {"role": "exit", "content": "diff"},
    ]
    (tmp_path / "one.traj.json").write_text(json.dumps({"messages": messages}))
    ((source, system, talk),) = mini(tmp_path)
    assert (source, system, talk.name, talk.goal) == (
        "mini-swe-agent", "Use the shell.", "one", "Mend it.",
    )  # fmt: skip
    (turn,) = talk.turns
    assert turn.reply.calls[0].arguments == '{"command": "ls"}'
    assert turn.seen[0].text == "src"
