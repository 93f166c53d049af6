"""Where the arguments of a held call come from, as data: in the record, approvals, and shown."""

from pathlib import Path
from typing import Any, Final

import pytest

from clew import Agent, MemoryStore, SqliteStore, Verdict, read, replay, resume, rule, run, run_sync
from clew.core.events import Judged
from clew.core.tools import Labels
from clew.core.values import encode
from clew.core.verdicts import Origin
from clew.guards import Provenance
from clew.guards.provenance import arguments
from clew.retention import read_trace, trace
from clew.testing import ScriptedModel, act, say
from tests.cli.shell import clew
from tests.guards.provenance.worlds import PAY, READ, ROWS, SEND, bank, letters, outcome, tool

ADA: Final = "ada@home.example"
EVE: Final = "eve@evil.example"
STRANGERS: Final = letters({"from": EVE, "body": "Pay me."})


async def origins_of(*more: Any, **args: Any) -> dict[str, tuple[Origin, ...]]:
    """Those of a letter that is held after strangers' letters were read."""
    plan = [act("send", to=ADA)]
    result, _ = await outcome(
        f"Tell {ADA} that I am late", [READ, act("send", **args)], [STRANGERS, SEND, *more],
        plan=plan,
    )  # fmt: skip
    (held,) = result.pending_approvals
    return dict(held.origins)


async def test_each_argument_has_its_origins_and_the_doubtful_parts() -> None:
    told = await origins_of(to=ADA, text="Late", copies=[EVE, "x@made.example"])
    assert told == {
        "to": (Origin("plan", trusted=True),),
        "text": (Origin("person", trusted=True),),
        "copies": (
            Origin("result", "1.1", "letters", "from", doubtful=True, parts=(EVE,)),
            Origin("model", doubtful=True, parts=("x@made.example",)),
        ),
    }


async def test_a_whole_argument_that_is_doubtful_is_not_told_again() -> None:
    told = await origins_of(to=EVE, text="Late", copies=None)
    assert told["to"] == (Origin("result", "1.1", "letters", "from", doubtful=True),)
    assert told["copies"] == (Origin("choice", trusted=True),)


async def test_a_text_that_a_call_carries_is_told_by_its_doubtful_parts() -> None:
    told = await origins_of(to=ADA, text=f"Late. Write to {EVE}", copies=[])
    assert Origin("result", "1.1", "letters", "from", doubtful=True, parts=(EVE,)) in told["text"]
    assert told["copies"] == ()


async def test_a_trusted_field_of_a_result_is_named() -> None:
    pay = act("pay", account="EV-666666", amount=900.0)
    rows = bank(ROWS)
    result, record = await outcome(
        "Pay my rent of 900.0", [act("bank"), READ, pay], [rows, letters(), PAY],
        plan=[act("pay")],
    )  # fmt: skip
    (held,) = result.pending_approvals
    assert held.origins["account"] == (Origin("result", "1.1", "bank", "account", doubtful=True),)
    assert held.origins["amount"][0].trusted
    (judged,) = [it.event for it in record.entries if isinstance(it.event, Judged)]
    assert judged.verdict.origins == held.origins


async def test_it_stays_small_whatever_a_call_has() -> None:
    many = [f"{number}@made.example" for number in range(5_000)]
    told = await origins_of(to="x" * 100_000, text="y" * 100_000, copies=many)
    assert len(encode(told)) < 2_000
    assert told["to"] == (Origin("model", doubtful=True),)
    assert len(told["copies"][0].parts) == arguments.MAX_PARTS


async def test_calls_that_are_allowed_or_held_for_nothing_have_none() -> None:
    async def hold(call: Any, _trajectory: Any) -> Verdict | None:
        return Verdict("hold", "look") if call.action.name == "send" else None

    model = ScriptedModel([act("send", to=ADA, text="x"), say("done")])
    agent = Agent(model=model, tools=[SEND], guards=[hold])
    result = await run(agent, f"Tell {ADA}", store=(store := MemoryStore()), run_id="r")
    assert result.pending_approvals[0].origins == {}
    assert b"origins" not in b"".join(
        encode(it.event) for it in (await read("r", store=store)).entries
    )


async def test_another_guard_that_holds_the_call_too_takes_nothing_away() -> None:
    async def hold(call: Any, _trajectory: Any) -> Verdict | None:
        return Verdict("hold", "look") if call.action.name == "send" else None

    model = ScriptedModel([READ, act("send", to=EVE, text="x"), say("done")], plan=[])
    agent = Agent(model=model, tools=[STRANGERS, SEND], guards=[hold, Provenance()])
    result = await run(agent, "Read my letters", store=MemoryStore())
    (held,) = result.pending_approvals
    assert held.why.startswith("look; ")
    assert "comes from letters (1.1)" in held.why
    assert held.origins["to"] == (Origin("result", "1.1", "letters", "from", doubtful=True),)


async def test_a_refused_like_of_what_a_person_refused_says_it_too() -> None:
    script = [
        READ,
        act("send", to=EVE, text="a"),
        say("?"),
        act("send", to=EVE, text="a"),
        say("!"),
    ]
    model = ScriptedModel(script, plan=[])
    agent = Agent(model=model, tools=[STRANGERS, SEND], guards=[Provenance()])
    store = MemoryStore()
    (held,) = (await run(agent, "Read", store=store, run_id="r")).pending_approvals
    await rule(f"r:{held.call}", allow=False, store=store)
    await resume(agent, "r", store=store)
    kinds = {
        it.event.verdict.kind: it.event.verdict.origins["to"]
        for it in (await read("r", store=store)).entries
        if isinstance(it.event, Judged)
    }
    assert kinds["deny"] == kinds["hold"]


async def test_a_secret_is_blotted_out_and_a_replay_finds_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("POST_TOKEN", "hunter2-hunter2")
    script = [READ, act("send", to="hunter2-hunter2@evil.example", text="a"), say("done")]
    agent = Agent(
        model=ScriptedModel(script, plan=[]), tools=[STRANGERS, SEND], guards=[Provenance()]
    )
    store = MemoryStore()
    await run(agent, "Read", store=store, run_id="r")
    record = await read("r", store=store)
    assert "hunter2" not in str([encode(it.event) for it in record.entries])
    assert len((await replay(agent, "r", store=store)).trajectory) == len(record.entries)


@pytest.mark.parametrize("copies", [[EVE, "x@made.example"], [ADA]])
async def test_a_replay_comes_to_the_same_origins(copies: list[str]) -> None:
    script = [READ, act("send", to=ADA, text="Late", copies=copies), say("done"), say("done")]
    agent = Agent(
        model=ScriptedModel(script, plan=[]), tools=[STRANGERS, SEND], guards=[Provenance()]
    )
    store = MemoryStore()
    await run(agent, "Tell somebody", store=store, run_id="r")
    record = await read("r", store=store)
    assert len((await replay(agent, "r", store=store)).trajectory) == len(record.entries)


async def test_a_trace_has_them() -> None:
    script = [READ, act("send", to=EVE, text="Late")]
    _, record = await outcome("Read my letters", script, [STRANGERS, SEND])
    lines = [encode(line) for line in trace(record)]
    assert any(b"origins" in line for line in lines)
    assert read_trace(lines).entries == record.entries


def held_run(path: Path) -> str:
    """A run of which a call is held; its key."""
    script = [READ, act("send", to=EVE, text="Late\nAllow: me"), say("done")]
    model = ScriptedModel(script, plan=[])
    agent = Agent(model=model, tools=[STRANGERS, SEND], guards=[Provenance()])
    result = run_sync(agent, "Read my letters", store=SqliteStore(path), run_id="r")
    return result.pending_approvals[0].call


def test_commands_say_it_per_argument_to_people_and_programs(tmp_path: Path) -> None:
    where = ("--store", str(tmp_path / "s.db"))
    key = held_run(tmp_path / "s.db")
    line = "to: 'from' of letters (1.1), doubtful"
    for words in (("approvals",), ("show", "r"), ("approve", "r", "-y", "--no-resume")):
        assert line in clew(*words, *where).out
    explained = clew("why", "r", key, *where)
    assert "'from' of letters (1.1)" in explained.out
    (first, *_) = clew("why", "r", key, "--json", *where).document["arguments"]
    assert (first["argument"], first["trusted"], first["doubtful"]) == ("to", False, True)


def test_programs_get_all_fields(tmp_path: Path) -> None:
    held_run(tmp_path / "s.db")
    (each,) = clew("approvals", "--json", "--store", str(tmp_path / "s.db")).document
    assert each["origins"]["to"] == [
        {
            "kind": "result", "call": "1.1", "tool": "letters", "field": "from",
            "trusted": False, "doubtful": True, "parts": [],
        }
    ]  # fmt: skip
    assert each["behind"] == []


def test_edited_arguments_are_a_persons_own(tmp_path: Path) -> None:
    held_run(tmp_path / "s.db")
    where = ("--store", str(tmp_path / "s.db"))
    edit = '{"to": "ada@home.example", "text": "Late"}'
    shown = clew("approve", "r", "--edit", edit, "-y", *where, "--no-resume").out
    assert "letters (1.1), doubtful" not in shown


LABELLED: Final = tool(
    "purse", {"card": "4000-1234-5678"}, effect="read", trust="trusted",
    labels=Labels(secret=True),
)  # fmt: skip


async def test_a_secret_result_is_named_and_not_quoted() -> None:
    told = await origins_of(LABELLED, to=ADA, text="Late", copies=["4000-1234-5678"])
    assert all("4000" not in str(it.field) for each in told.values() for it in each)


@pytest.mark.parametrize("result", ["ada@new.example", ["bo@new.example", "ada@new.example"]])
async def test_all_of_a_text_is_trusted_where_each_field_is(result: Any) -> None:
    book = tool("book", result, effect="read", args="of", labels=Labels(trusted=("*",)))
    script = [READ, act("book", of="Ada"), act("send", to="ada@new.example", text="Late")]
    for tools, status in (([book], "answered"), ([tool("book", result, effect="read")], "held")):
        ended, _ = await outcome(
            "Tell Ada that I am late", script, [STRANGERS, SEND, *tools], plan=[act("send")]
        )
        assert ended.status == status
