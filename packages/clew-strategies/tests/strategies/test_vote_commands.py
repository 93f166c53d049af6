"""`clew ask --votes`: several runs, one answer, and records that crash, resume and replay alike."""

import json
import re
import signal
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import anyio
import pytest

from clew import open_store
from clew_testing.servers.openai_server import OpenAIServer, Say
from tests.cli.shell import RUN_ID, begin, clew, library, own_tools, until
from tests.patience import PATIENCE

KEY = "sk-very-secret-0123456789"


def with_model(server: OpenAIServer) -> dict[str, str]:
    return {"OPENAI_BASE_URL": server.base_url, "OPENAI_API_KEY": KEY}


def test_three_runs_answer_and_all_of_it_can_be_shown_and_replayed() -> None:
    question = "When was Mary Shelley born?"
    # With a verifier all runs go to their end, so that it does not matter which is the slowest.
    wish = ("--votes", "3", "--verifier", "offline", "--docs", library())
    done = clew("ask", question, *wish)
    assert done.code == 0
    assert "Vote: 3 runs of one agent, at once.\n" in done.out
    for number in (1, 2, 3):
        assert f"Run {number} · Thought 1: " in done.out
        assert f"Run {number} · Observation 1.1: " in done.out
    end = done.out.split("Answer: ")[1]
    assert "1797" in end
    assert re.search(r"^\[doc_\d\]: mary\.md · Mary Shelley \(score ", end, re.MULTILINE)
    assert "Vote: All 3 runs gave the same answer.\n" in end
    runs = re.findall(rf"^Run \d: .*1797.* · answered · run ({RUN_ID}\.\d)$", end, re.MULTILINE)
    assert [run[-2:] for run in runs] == [".1", ".2", ".3"]
    assert re.search(rf"answered · [69] steps · .* · run {RUN_ID}$", end.strip())

    vote_id = runs[0][:-2]
    listed = clew("runs", "--json").document
    assert {run["run_id"]: run["parent"] for run in listed} == {
        vote_id: "",
        **{run: f"{vote_id}:1.{run[-1]}" for run in runs},
    }
    assert clew("runs").out.count(f"  {vote_id}, call 1.") == 3
    shown = clew("show", vote_id).out
    assert all(f"run_id: {run}" in shown for run in runs)
    assert "Question: When was Mary Shelley born?" in clew("show", runs[1]).out
    for run in (vote_id, *runs):
        assert "identical, no call made" in clew("replay", run).out


def answering(*answers: str) -> Any:
    """Each run looks something else up and answers by that; the verifier reads what it is shown."""
    keys = iter(range(len(answers)))

    def reply(body: Mapping[str, Any]) -> Say:
        text = json.dumps(body["messages"])
        if body["model"] == "judge":
            number = re.search(r"Answer of run (\d): Paris", text)
            assert number is not None
            return Say(
                calls=[("finish", f'{{"answer": {{"run": {number[1]}, "why": "it fits"}}}}')]
            )
        if (found := re.search(r'key \\\\+"(\d)', text)) or (
            found := re.search(r"look (\d)", text)
        ):
            return Say(answers[int(found[1])])
        return Say(calls=[("own_look", f'{{"what": "look {next(keys)}"}}')])

    return reply


def test_where_the_answers_differ_the_verifier_decides_and_its_word_is_shown() -> None:
    looking()
    with OpenAIServer(answering("Rome", "Paris", "Rome")) as server:
        done = clew(
            *("ask", "Which?", "--model", "openai:voter", "--tools", "own:own_look", "--json"),
            *("--votes", "3", "--verifier", "openai:judge"),
            env=with_model(server),
        )
    assert done.code == 0
    found = done.document
    assert (found["answer"], found["vote"]["how"]) == ("Paris", "verifier")
    assert found["vote"]["words"].endswith(
        f"chose that of run {found['vote']['chosen']} (it fits)."
    )
    assert sorted(len(count["runs"]) for count in found["vote"]["counts"]) == [1, 2]
    assert found["vote"]["verifier"]["run"] == found["vote"]["chosen"]
    spent = sum(run["usage"]["tokens"] for run in found["vote"]["runs"])
    assert 0 < spent < found["usage"]["tokens"]  # the verifier's are counted too
    verifier = clew("show", f"{found['run_id']}.verifier").out
    assert "Answer of run 2" in verifier
    assert "identical" in clew("replay", found["run_id"]).out


def looking() -> None:
    Path("own.py").write_text(
        "from clew import tool\n\n"
        '@tool(effect="read")\n'
        "def own_look(what: str) -> str:\n"
        '    """Look something up."""\n'
        '    return f"there is {what}"\n'
    )


@pytest.mark.parametrize(("how", "code"), [(signal.SIGINT, 130), (signal.SIGKILL, -9)])
def test_a_vote_that_was_cut_off_goes_on_and_pays_nothing_again(
    how: signal.Signals, code: int
) -> None:
    own_tools()
    waiting = Say(calls=[("wait", '{"for_what": "the ship"}')])
    with OpenAIServer(lambda body: Say("Yes") if said_of_ship(body) else waiting) as server:
        words = ("--model", "openai:test", "--tools", "own:wait")
        process = begin("ask", "Is it there?", "--votes", "3", *words, **with_model(server))
        until("begun", process)
        while len(server.requests) < 3:
            assert process.poll() is None
            time.sleep(0.01)
        until_recorded(3)
        process.send_signal(how)
        _, err = process.communicate(timeout=PATIENCE)
        assert process.returncode == code
        if how is signal.SIGINT:
            assert re.search(rf"the record is open, go on with: clew resume {RUN_ID}$", err.strip())
        vote_id = min((run["run_id"] for run in clew("runs", "--json").document), key=len)
        assert " open " in clew("runs").out
        refused = clew("resume", f"{vote_id}.1", env=with_model(server))
        assert refused.code == 2
        assert f"goes on with it: clew resume {vote_id}" in refused.err
        Path("go").touch()
        resumed = clew("resume", vote_id, env=with_model(server))
        assert resumed.code == 0
        assert "Answer: Yes" in resumed.out
        assert len(server.requests) <= 6  # three thoughts before, one for each run after
        again = clew("resume", vote_id, "--quiet", env=with_model(server))
        assert "Answer: Yes" in again.out
        assert len(server.requests) <= 6
    assert clew("replay", vote_id).code == 0


def said_of_ship(body: Mapping[str, Any]) -> bool:
    return "the ship is here" in json.dumps(body["messages"])


def until_recorded(runs: int) -> None:
    """Wait until so many runs have their first thought on record."""

    async def look() -> None:
        store = open_store()
        while sum(info.entries >= 2 and "." in info.run_id for info in await store.runs()) < runs:
            await anyio.sleep(0.01)
        await store.close()

    anyio.run(look)


def test_a_run_that_asks_a_person_holds_the_vote() -> None:
    asking = Say(calls=[("ask_person", '{"question": "Which colour?"}')])

    def reply(body: Mapping[str, Any]) -> Say:
        text = json.dumps(body["messages"])
        return Say("Red it is.") if "red" in text else asking

    ask = ("ask", "Paint it.", "--model", "openai:test", "--tools", "ask_person", "--votes", "2")
    with OpenAIServer(reply) as server:
        held = clew(*ask, env=with_model(server))
        assert held.code == 4
        (vote_id,) = set(re.findall(rf"clew approve ({RUN_ID})\.\d", held.out))
        assert held.out.count("Look: clew show ") == 2
        assert f"Then: clew resume {vote_id}\n" in held.out
        for number in (1, 2):
            answer = clew("approve", f"{vote_id}.{number}", "--answer", "red", "--no-resume")
            assert answer.code == 0
        done = clew("resume", vote_id, env=with_model(server))
    assert done.code == 0
    assert "Answer: Red it is." in done.out


def test_a_model_that_cannot_be_reached_leaves_the_vote_open_and_says_what_it_took() -> None:
    ask = ("ask", "Well?", "--votes", "2", "--model", "openai:test", "--json")
    with OpenAIServer(key="another") as server:
        done = clew(*ask, env=with_model(server))
    assert done.code == 5
    assert done.document["status"] == "open"
    assert [run["status"] for run in done.document["vote"]["runs"]] == ["open", "open"]
    assert f"go on with: clew resume {done.document['run_id']}" in done.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--verifier", "offline"], "--verifier chooses among several answers: say how many"),
        (["--votes", "0"], "0 is not in the range x>=1"),
        (["--votes", "3", "--log-dir", "logs"], "a log folder is for one run"),
        (["--votes", "3", "--tools", "own:pay"], "3 runs would each do what pay does"),
        (["--votes", "3", "--tokens", "2"], "limit tokens is 2, too few for 3 runs"),
        (["--votes", "3", "--verifier", "nobody:x"], "nobody"),
    ],
)
def test_what_does_not_fit_a_vote_is_said_first(words: list[str], said: str) -> None:
    own_tools()
    done = clew("ask", "What is 1+1?", "--model", "offline", *words)
    assert done.code == 2
    assert said in done.err
    assert clew("runs", "--json").document == []


def test_a_vote_takes_no_further_word_and_is_not_forked() -> None:
    vote_id = clew("ask", "What is 1+1?", "--model", "offline", "--votes", "1", "--json").document[
        "run_id"
    ]
    said = clew("resume", vote_id, "--say", "And 2+2?")
    assert (said.code, "a vote takes no further word" in said.err) == (2, True)
    logged = clew("resume", vote_id, "--log-dir", "logs")
    assert (logged.code, "for one run" in logged.err) == (2, True)
    forked = clew("fork", vote_id, "--at", "0")
    assert (forked.code, f"such as {vote_id}.1" in forked.err) == (2, True)
    audited = clew("show", vote_id, "--audit")
    assert (audited.code, f"audit one of its runs, such as {vote_id}.1" in audited.err) == (2, True)
    fork = clew("fork", f"{vote_id}.1", "--at", "0", "--json")
    assert fork.code == 0
    assert clew("resume", fork.document["run_id"], "--quiet").code == 0


def test_debug_shows_the_votes_own_record() -> None:
    done = clew("ask", "What is 1+1?", "--model", "offline", "--votes", "2", "--debug")
    assert "Observation 1.2: run: 2" in done.out
    assert "Run 2 · Question: What is 1+1?" in done.out


def test_a_vote_of_which_all_runs_declined_ends_as_one_of_them_would() -> None:
    asked = ("ask", "Who is the king of the moon?", "--docs", library(), "--json")
    alone, vote = clew(*asked), clew(*asked, "--votes", "2")
    assert (alone.code, vote.code) == (7, 7)
    assert vote.document["status"] == "declined"
    assert vote.document["answer"] == alone.document["answer"]
    assert clew("replay", vote.document["run_id"]).code == 0


def test_what_is_said_beside_an_answer_is_no_part_of_it() -> None:
    asked = ("ask", "When was Mary Shelley born?", "--docs", library(), "--model", "offline")
    found = clew(*asked, "--votes", "2", "--json").document
    signed = "answered by clew's offline rules, not by a language model"
    assert (found["status"], found["note"]) == ("answered", signed)
    assert signed not in found["answer"]


def test_every_run_is_told_what_fits_the_question() -> None:
    clew("memory", "add", "Ada keeps bees in Bonn", "--memory", "notes")
    ask = ("ask", "What is 2 + 3?", "--model", "offline")
    assert clew(*ask, "--memory", "notes", "--votes", "3").code == 0
    bees = ("ask", "What is 2 + 3 bees?", "--model", "offline")
    voted = clew(*bees, "--memory", "notes", "--votes", "2", "--json").document
    for number in (1, 2):
        assert "Ada keeps bees in Bonn" in clew("show", f"{voted['run_id']}.{number}").out
