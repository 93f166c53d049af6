"""`clew approve` and `clew reject`, on calls that wait for a person."""

import re
from pathlib import Path

import pytest

from clew import Agent, Tool, run_sync, sync
from clew.core.values import Json
from clew.testing.models import ScriptedModel, act, say
from clew_testing.servers.openai_server import OpenAIServer, Say
from tests.cli.shell import clew
from tests.cli.terminal import terminal
from tests.core.family import family
from tests.guards.verdicts import verdict_on

ASK = ("ask", "Paint it.", "--model", "openai:test", "--tools", "ask_person")


def with_model(server: OpenAIServer) -> dict[str, str]:
    return {"OPENAI_BASE_URL": server.base_url, "OPENAI_API_KEY": "sk-0123456789"}


BY_PROGRAM = "the program that began it: resume(agent, '{}')"
"""How a run goes on whose record describes no agent."""
QUESTION = Say(calls=[("ask_person", '{"question": "Which colour?"}')])


def test_a_question_to_a_person_is_held_answered_and_goes_on() -> None:
    with OpenAIServer([QUESTION, Say("Painted blue.")]) as server:
        held = clew(*ASK, env=with_model(server))
        assert held.code == 4
        assert "the model asks: Which colour?" in held.out
        (waiting,) = clew("approvals", "--json").document
        assert f"Answer it: clew approve {waiting['id']} --answer TEXT\n" in held.out
        bare = clew("approve", "last", "--no-resume")
        assert (bare.code, bare.out) == (2, "")
        assert "1.1 is a question: answer it with --answer TEXT" in bare.err
        answered = clew("approve", "last", "--answer", "blue", "--no-resume")
        assert answered.code == 0
        assert "Go on with: clew resume " in answered.out
        again = clew("reject", "last", "--no-resume")
        assert (again.code, again.out) == (2, "")
        assert "was ruled on already, and the first word counts" in again.err
        resumed = clew("resume", "last", env=with_model(server))
    assert resumed.code == 0
    assert "Observation 1.1: blue" in resumed.out
    assert clew("replay", "last").code == 0


def test_held_calls_are_told_to_programs() -> None:
    with OpenAIServer([QUESTION]) as server:
        done = clew(*ASK, "--json", env=with_model(server))
    assert done.code == 4
    (held,) = done.document["pending_approvals"]
    assert (held["call"], held["tool"], held["args"]) == (
        "1.1",
        "ask_person",
        {"question": "Which colour?"},
    )


def test_a_refusal_tells_the_model_why() -> None:
    with OpenAIServer([QUESTION, Say("Then not.")]) as server:
        clew(*ASK, env=with_model(server))
        assert clew("reject", "last", "1.1", "--why", "decide yourself", "--no-resume").code == 0
        resumed = clew("resume", "last", env=with_model(server))
        assert "decide yourself" in str(server.requests[-1].body["messages"])
    assert resumed.code == 0


async def pay(args: dict[str, Json], _key: str) -> str:
    return f"paid {args['amount']}"


hold = verdict_on("pay", "hold", "it costs money")


PAY = Tool(
    "pay",
    "Pay an amount.",
    {
        "type": "object",
        "properties": {"amount": {"type": "integer"}},
        "required": ["amount"],
        "additionalProperties": False,
    },
    pay,
)


def test_arguments_can_be_edited_on_a_program_s_run() -> None:
    script = [act("pay", amount=1000), say("Paid.")]
    agent = Agent(model=ScriptedModel(script, tools=[PAY]), tools=[PAY], guards=[hold])
    run_id = run_sync(agent, "Pay.").run_id
    assert (
        clew(
            "approve", run_id, "--edit", '{"amount": 10}', "--why", "less", "-y", "--no-resume"
        ).code
        == 0
    )
    shown = resumed(agent, run_id)
    assert "paid 10" in shown
    assert 'Ruling 1.1: allowed with {"amount":10}: less' in shown


def resumed(agent: Agent, run_id: str) -> str:
    assert sync.resume(agent, run_id).ok
    return clew("show", run_id).out


def test_what_waits_in_sub_runs_is_listed_ruled_on_and_gone_on_with() -> None:
    assert clew("ask", "What is 2+3?").code == 0
    assert clew("approvals").out.startswith("nothing waits for a person in ")
    assert clew("approvals", "--json").document == []
    sent: list[tuple[str, str]] = []
    root, office, _ = family(sent)
    run_sync(root, "Write.", run_id="r")
    listed = clew("approvals").out
    assert listed.count("a letter leaves the house") == 4
    ids = [each["id"] for each in clew("approvals", "--json").document]
    assert ids[0].startswith("r-1.1-1.1:1.1:")
    assert f"Allow: clew approve {ids[0]}\nRefuse: clew reject {ids[0]} --why" in listed
    assert listed.count(f"Then: {BY_PROGRAM.format('r')}\n") == 4
    first = clew("approvals", "--json").document[0]
    assert {name: first[name] for name in ("tool", "why", "root")} == {
        "tool": "send",
        "why": "a letter leaves the house",
        "root": "r",
    }
    several = clew("approve", "r", "--no-resume")
    assert several.code == 2
    assert "several calls wait: say which; of run r these wait: r-1.1-1.1 1.1, r-1.1" in several.err
    whole = clew("approve", "r", "1.1", "--no-resume")
    assert "call 1.1 of run r waits for run r-1.1: rule on what is held there" in whole.err
    assert (
        "these wait: r-1.1-1.1 1.1, r-1.1-1.1 1.2"
        in clew("approve", "r-1.1", "7.7", "--no-resume").err
    )
    done = clew("approve", "r-1.1-1.1", "1.1", "--edit", '{"text": "dear"}', "--yes", "--no-resume")
    assert done.out == (
        'Allow r-1.1-1.1 1.1: send(text="dear")\n  a letter leaves the house\n'
        f"1.1 send is allowed. Go on with: {BY_PROGRAM.format('r')}\n"
    )
    assert clew("reject", "r-1.1-1.1", "1.2", "--no-resume").out.endswith(
        f"Go on with: {BY_PROGRAM.format('r')}\n"
    )
    assert clew("reject", "r", "1.2", "--why", "no", "--no-resume").out.endswith(
        f"Go on with: {BY_PROGRAM.format('r')}\n"
    )
    below = clew("resume", "r-1.1-1.1")
    assert below.code == 2
    assert "run r-1.1-1.1 serves run r and goes on with it: clew resume r" in below.err
    assert sync.resume(family(sent)[0], "r").ok  # the guard has held it once: it may not again
    assert sent == [("r-1.1-1.1:1.1", "dear")]
    assert clew("approvals", "--json").document == []
    shown = clew("show", "r").out
    assert "Sub-run 1.1: r-1.1 (granted: 6 steps, 14 calls, " in shown
    head, *lines = clew("runs").out.splitlines()
    assert head.split()[-3:] == ["PART", "OF", "QUESTION"]
    assert [line[head.index("PART OF") :].split("  ")[0] for line in lines if " r, call" in line]
    assert "  r, call 1.1  " in "\n".join(lines)
    del office


def test_a_run_that_is_held_below_tells_so(tmp_path: Path) -> None:
    (tmp_path / "asks.toml").write_text('model = "openai:test"\ntools = ["ask_person"]\n')
    (tmp_path / "head.toml").write_text(
        'model = "openai:test"\ntools = []\n[[agents]]\nname = "asks"\n'
        'description = "Asks."\nfile = "asks.toml"\n'
    )
    hands_on = Say(calls=[("asks", '{"task": "Which colour?"}')])
    script = [hands_on, QUESTION, Say("It is blue."), Say("Painted blue.")]
    with OpenAIServer(script) as server:
        ask = ("ask", "Paint it.", "--agent", str(tmp_path / "head.toml"))
        held = clew(*ask, "--json", env=with_model(server))
        assert held.code == 4
        run_id = held.document["run_id"]
        (each,) = held.document["pending_approvals"]
        assert (each["run_id"], each["root"], each["tool"]) == (
            f"{run_id}-1.1",
            run_id,
            "ask_person",
        )
        assert clew("approve", run_id, "--answer", "blue", "--no-resume").code == 0
        resumed = clew("resume", run_id, env=with_model(server))
    assert resumed.code == 0
    assert "Answer: Painted blue." in resumed.out
    for each_run in (run_id, f"{run_id}-1.1"):
        assert clew("replay", each_run).code == 0


def paying(amount: int, run_id: str) -> Agent:
    """A run that waits for a word on a payment."""
    script = [act("pay", amount=amount), say("Paid.")]
    agent = Agent(model=ScriptedModel(script, tools=[PAY]), tools=[PAY], guards=[hold])
    assert run_sync(agent, "Pay.", run_id=run_id).status == "held"
    return agent


def test_the_last_run_is_not_ruled_on_where_several_wait() -> None:
    paying(1, "one")
    paying(2, "two")
    for command in (("approve", "last", "--yes"), ("reject", "last")):
        done = clew(*command)
        assert (done.code, done.out) == (2, "")
        assert "2 runs wait (one, two): name one, or see each: `clew approvals -i`" in done.err
    assert len(clew("approvals", "--json").document) == 2
    assert clew("approve", "one", "--yes", "--no-resume").code == 0
    clew("ask", "What is 2+3?")  # a later run, which waits for nobody
    done = clew("approve", "last", "--yes", "--no-resume")
    assert done.out.startswith("Allow two 1.1: pay(amount=2)")


def test_a_call_is_shown_before_it_is_allowed_and_nobody_is_taken_for_a_yes() -> None:
    agent = paying(7, "r")
    for command in (("approve", "r"), ("approve", "r", "1.1", "--edit", '{"amount": 8}')):
        done = clew(*command)
        assert done.code == 2
        assert "nobody is here to confirm this call: look at it, then give --yes" in done.err
    assert "Held r 1.1: pay(amount=8)\n  it costs money\n" in done.out
    with terminal("approve", "r", "--no-resume") as shell:
        shell.shows(r"Held r 1\.1: .*pay\(amount=7\)[\s\S]*Allow it\? \[y/N\]: ")
        shell.type("\n")
        assert "1.1 pay still waits" in shell.shows("still waits")
        assert shell.leaves() == 0
    assert len(clew("approvals", "--json").document) == 1
    with terminal("approve", "r", "--no-resume") as shell:
        shell.shows(r"Allow it\? ")
        shell.type("y\n")
        shell.shows("1.1 pay is allowed")
    assert "paid 7" in resumed(agent, "r")


def test_all_that_waits_is_walked_through() -> None:
    """Allowed, edited and then allowed, refused and left, each in one sitting."""
    agents = {name: paying(number, name) for number, name in enumerate("abcd", start=1)}
    editor = Path("editor.sh")
    editor.write_text('#!/bin/sh\nsed -i s/2/20/ "$1"\n')
    editor.chmod(0o755)
    with terminal("approvals", "-i", EDITOR=str(editor.absolute())) as shell:
        for amount, word in ((1, "y"), (2, "e"), (20, "y"), (3, "n")):
            shell.shows(rf"pay\(amount={amount}\)[\s\S]*decide later:[\s\S]*[?] ")
            shell.type(f"{word}\n")
        shell.shows("Why ")
        shell.type("too much\n")
        shell.shows(r"pay\(amount=4\)[\s\S]*decide later:[\s\S]*[?] ")
        shell.type("\n")
        said = shell.shows(re.escape(BY_PROGRAM.format("c")))
        assert BY_PROGRAM.format("a") in said
        assert shell.leaves() == 0
    (left,) = clew("approvals", "--json").document
    assert left["run_id"] == "d"
    assert "paid 1" in resumed(agents["a"], "a")
    assert "paid 20" in resumed(agents["b"], "b")
    assert "too much" in resumed(agents["c"], "c")


def test_what_was_ruled_on_stays_where_a_walk_is_broken_off() -> None:
    paying(1, "a")
    paying(2, "b")
    with terminal("approvals", "--interactive", EDITOR="true") as shell:
        shell.shows(r"decide later:[\s\S]*[?] ")
        shell.type("e\n")  # nothing was saved: asked again
        shell.shows(r"decide later:[\s\S]*[?] ")
        shell.type("y\n")
        shell.shows(r"decide later:[\s\S]*[?] ")
        shell.type("\x04")
        shell.shows(re.escape(BY_PROGRAM.format("a")))
        assert shell.leaves() == 0
    assert [each["run_id"] for each in clew("approvals", "--json").document] == ["b"]
    both = clew("approvals", "-i", "--json")
    assert (both.code, both.out) == (2, "")
    assert "not both" in both.err


def test_a_word_that_is_none_and_arguments_that_do_not_fit_are_asked_for_again() -> None:
    paying(1, "a")
    paying(2, "b")
    editor = Path("editor.sh")
    editor.write_text('#!/bin/sh\nsed -i s/amount/sum/ "$1"\n')
    editor.chmod(0o755)
    with terminal("approvals", "-i", EDITOR=str(editor.absolute())) as shell:
        for word, told in (
            ("a", "a is none of these"), ("e", r"pay\(sum=1\)"), ("y", "nothing was ruled"),
            ("yes!", "yes! is none of these"),
        ):  # fmt: skip
            shell.shows(r"decide later:[\s\S]*[?] ")
            shell.type(f"{word}\n")
            shell.shows(told)
        shell.shows(r"decide later:[\s\S]*[?] ")
        shell.type("\n")
        shell.shows(r"pay\(amount=2\)[\s\S]*decide later:[\s\S]*[?] ")
        shell.type("\n")
        assert shell.leaves() == 0
    assert [each["run_id"] for each in clew("approvals", "--json").document] == ["a", "b"]


@pytest.mark.parametrize("answer", ['"x"', "{bad", "yes", "1", "null"])
def test_an_answer_allows_no_call_that_asks_nothing(answer: str) -> None:
    paying(1, "a")
    for more in ((), ("--yes",)):
        done = clew("approve", "a", "--answer", answer, *more, "--no-resume")
        assert (done.code, done.err) == (
            2, "clew: 1.1 pay asks nothing: rule on it without --answer\n",
        )  # fmt: skip
    assert [each["run_id"] for each in clew("approvals", "--json").document] == ["a"]


def test_questions_are_answered_while_walking() -> None:
    with OpenAIServer([QUESTION, Say("Painted blue.")]) as server:
        clew(*ASK, env=with_model(server))
        with terminal("approvals", "-i") as shell:
            shell.shows("Your answer")
            shell.type("blue\n")
            shell.shows("clew resume")
        resumed = clew("resume", "last", env=with_model(server))
    assert "Observation 1.1: blue" in resumed.out


def test_an_approval_is_ruled_on_by_its_id_and_the_run_goes_on() -> None:
    with OpenAIServer([QUESTION, Say("Painted blue.")]) as server:
        env = with_model(server)
        assert clew(*ASK, env=env).code == 4
        (waiting,) = clew("approvals", "--json").document
        wrong = f"{waiting['id'][:-2]}{'00' if waiting['id'][-2:] != '00' else '11'}"
        stale = clew("approve", wrong, "--answer", "red", env=env)
        assert (stale.code, stale.out) == (2, "")
        assert "changed since: look again" in stale.err
        done = clew("approve", waiting["id"], "--answer", "blue", env=env)
        assert (done.code, "Painted blue." in done.out) == (0, True)
        late = clew("reject", waiting["id"], env=env)
        assert (late.code, late.out) == (2, "")
    assert clew("replay", "last").code == 0


def test_a_run_goes_on_once_all_its_calls_are_ruled_on() -> None:
    sent: list[tuple[str, str]] = []
    root, _, _ = family(sent)
    run_sync(root, "Write.", run_id="r")
    ids = [each["id"] for each in clew("approvals", "--json").document]
    for each in ids:
        done = clew("approve", each, "--yes")
        assert done.code == 0
        assert BY_PROGRAM.format("r") in done.out, "no file describes its agent"
    assert sync.resume(root, "r").ok
    assert len(sent) == 4
