"""What an agent file and a command say beside a strategy: guards, memories, votes, conversation."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from clew_testing.servers.openai_server import OpenAIServer, Say
from tests.cli.shell import clew

OWN = '''
"""Tools, a guard and a bound of one's own."""

from pathlib import Path

from clew import Verdict, tool


@tool(effect="unsafe")
def send(to: str) -> str:
    """Send a letter.

    Args:
        to: The address.
    """
    with Path("letters.txt").open("a") as file:
        file.write(f"{to}\\n")
    return "sent"


@tool(effect="read")
def look(name: str) -> str:
    """Look somebody up.

    Args:
        name: Whom.
    """
    return f"{name}@x.org"


def hold(call, so_far):
    return Verdict("hold", "a letter") if call.action.name == "send" else None


def deny(call, so_far):
    return Verdict("deny", "no letters") if call.action.name == "send" else None


def one(so_far):
    sent = [call for call in so_far.calls if call.action.name == "send" and call.changed]
    return "letters: one" if sent else None
'''


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own.py").write_text(OWN)
    return tmp_path


def letters(folder: Path) -> list[str]:
    file = folder / "letters.txt"
    return file.read_text().split() if file.exists() else []


def planning(body: Mapping[str, Any]) -> Say:
    """It plans to look somebody up and to write, then to write to a second one."""
    text = str(body["messages"])
    if "You plan all tool calls" in text:
        calls = [
            '{"id": "E1", "tool": "look", "args": {"name": "ada"}, "why": "the address"}',
            '{"id": "E2", "tool": "send", "args": {"to": "#E1"}, "why": "the letter"}',
            '{"id": "E3", "tool": "send", "args": {"to": "b#E2"}, "why": "the other"}',
        ]
        return Say(calls=[("finish", f'{{"answer": {{"calls": [{", ".join(calls)}]}}}}')])
    return Say("All is done.")


def env(server: OpenAIServer) -> dict[str, str]:
    return {"OPENAI_BASE_URL": server.base_url, "OPENAI_API_KEY": "sk-test"}


@pytest.mark.parametrize(
    ("setting", "code", "sent"),
    [
        ('guards = ["own:hold"]', 4, []),
        ('guards = ["own:deny"]', 0, []),
        ('bounds = ["own:one"]', 3, ["ada@x.org"]),
        ("[limits]\ntool_calls = 2", 0, ["ada@x.org"]),
        ("[limits]\ntool_calls = 1", 0, []),
        ("[limits.calls_per_tool]\nsend = 1", 0, ["ada@x.org"]),
        ("", 0, ["ada@x.org", "bsent"]),
    ],
)
def test_what_a_file_forbids_holds_for_a_plan_and_is_replayed(
    folder: Path, setting: str, code: int, sent: list[str]
) -> None:
    keys, tables = ("", setting) if setting.startswith("[") else (setting, "")
    file = folder / "agent.toml"
    file.write_text(
        'model = "openai:m"\ntools = ["own:look", "own:send"]\nstrategy = "rewoo"\n'
        'provenance = "off"\n'
        f"{keys}\n[prices.m]\ninput = 0\noutput = 0\n{tables}\n"
    )
    with OpenAIServer(planning) as server:
        done = clew("ask", "Write to Ada.", "--agent", str(file), env=env(server))
        assert (done.code, letters(folder)) == (code, sent), done.out + done.err
        if code == 4:
            waits = clew("approvals", "--json").document[0]
            ruled = ("approve", waits["run_id"], waits["call"], "--yes", "--no-resume")
            assert clew(*ruled, env=env(server)).code == 0
            resumed = clew("resume", "last", env=env(server))
            assert (resumed.code, letters(folder)) == (4, ["ada@x.org"])  # the next one waits
    replayed = clew("replay", "last")
    assert "identical, no call made" in replayed.out, replayed.out + replayed.err


def test_memories_are_told_to_the_runs_of_a_vote_and_of_a_strategy(folder: Path) -> None:
    memory = str(folder / "memory.sqlite")
    added = clew("memory", "add", "The cat is called Minka.", "--memory", memory)
    assert added.code == 0

    def reply(body: Mapping[str, Any]) -> Say:
        text = str(body["messages"])
        if "You judge the work" in text:
            return Say(calls=[("finish", '{"answer": {"passed": true, "why": "it is"}}')])
        return Say("Minka." if "is called Minka" in text else "I do not know.")

    wishes: list[tuple[str, str]] = [("--votes", "2"), ("--strategy", "reflexion")]
    for more in [*wishes, ("--strategy", "rewoo")]:
        with OpenAIServer(reply) as server:
            wish = ("ask", "What is the cat called?", "--model", "openai:m", "--memory", memory)
            done = clew(*wish, *more, env=env(server))
        if more[1] == "rewoo":  # it gives no plan: it was asked with the memory all the same
            assert "called Minka" in str(server.requests[0].body["messages"])
            continue
        assert (done.code, "Minka." in done.out) == (0, True), done.out + done.err
        assert "identical, no call made" in clew("replay", "last").out


STRATEGIES = [
    *("reflexion", "plan_and_solve", "rewoo", "auto", "evaluator_optimizer", "tree_search"),
]


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_vote_with_a_strategy_needs_no_price(folder: Path, strategy: str) -> None:
    def reply(body: Mapping[str, Any]) -> Say:
        text = str(body["messages"])
        if "You judge the work" in text:
            return Say(calls=[("finish", '{"answer": {"passed": true, "why": "it is"}}')])
        if "You plan the work" in text:
            return Say(calls=[("finish", '{"answer": {"steps": ["look"]}}')])
        if "You plan all" in text:
            call = '{"id": "E1", "tool": "look", "args": {"name": "ada"}}'
            return Say(calls=[("finish", f'{{"answer": {{"calls": [{call}]}}}}')])
        return Say("Ulm.")

    with OpenAIServer(reply) as server:
        done = clew(
            *("ask", "Which city?", "--model", "openai:of-unknown-price", "--tools", "own:look"),
            *("--strategy", strategy, "--votes", "2"),
            env=env(server),
        )
    assert (done.code, "Ulm." in done.out) == (0, True), done.out + done.err


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_vote_that_cannot_begin_leaves_no_record(folder: Path, strategy: str) -> None:
    done = clew(
        *("ask", "Write.", "--model", "offline", "--tools", "own:send", "--votes", "2"),
        *("--strategy", strategy),
    )
    assert done.code == 2
    assert "2 runs would each do what send does" in done.err
    assert "the record is open" not in done.err
    assert clew("runs", "--json").document == []


def test_a_chat_with_a_strategy_keeps_the_conversation(folder: Path) -> None:
    def reply(body: Mapping[str, Any]) -> Say:
        text = str(body["messages"])
        if "You judge the work" in text:
            return Say(calls=[("finish", '{"answer": {"passed": true, "why": "it is"}}')])
        asked = re.findall(r"My name is (\w+)", text)
        return Say(f"Hello {asked[0]}." if asked else "Hello stranger.")

    with OpenAIServer(reply) as server:
        wish = ("chat", "--model", "openai:m", "--strategy", "reflexion")
        done = clew(*wish, stdin="My name is Ada.\nWhat is my name?\n", env=env(server))
    assert done.out.count("Hello Ada.") >= 2
    assert "stranger" not in done.out


def test_a_run_shows_what_earlier_runs_of_its_strategy_did(folder: Path) -> None:
    def reply(body: Mapping[str, Any]) -> Say:
        text = str(body["messages"])
        if "You judge the work" in text:
            return Say(calls=[("finish", '{"answer": {"passed": false, "why": "no"}}')])
        if any(each["role"] == "tool" for each in body["messages"]):
            return Say("Sent.")
        return Say(calls=[("send", '{"to": "ada@x.org"}')])

    with OpenAIServer(reply) as server:
        done = clew(
            *("ask", "Write.", "--model", "openai:m", "--tools", "own:send"),
            *("--strategy", "evaluator_optimizer"),
            env=env(server),
        )
    assert (done.code, letters(folder)) == (4, ["ada@x.org"])
    (waits,) = clew("approvals", "--json").document
    shown = clew("show", waits["run_id"]).out
    done_before = r'Done before: send\(\{"to":"ada@x\[\.\]org"\}\) \(done by \S+-1\.1:1\.1\)'
    assert re.search(done_before, shown)
