"""`clew approve` and `clew reject`, on calls that wait for a person."""

from clew import Agent, Call, Tool, Trajectory, Verdict, resume_sync, run_sync
from clew.events import Json
from clew.testing.models import ScriptedModel, act, say
from clew.testing.openai_server import OpenAIServer, Say
from tests.cli.shell import clew

ASK = ("ask", "Paint it.", "--model", "openai:test", "--tools", "ask_person")


def with_model(server: OpenAIServer) -> dict[str, str]:
    return {"OPENAI_BASE_URL": server.base_url, "OPENAI_API_KEY": "sk-0123456789"}


QUESTION = Say(calls=[("ask_person", '{"question": "Which colour?"}')])


def test_a_question_to_a_person_is_held_answered_and_goes_on() -> None:
    with OpenAIServer([QUESTION, Say("Painted blue.")]) as server:
        held = clew(*ASK, env=with_model(server))
        assert held.code == 4
        assert "the model asks: Which colour?" in held.out
        assert f"Answer it: clew approve {held.out.split()[-1]} 1.1 --answer TEXT\n" in held.out
        bare = clew("approve", "last")
        assert (bare.code, bare.out) == (2, "")
        assert "1.1 is a question: answer it with --answer TEXT" in bare.err
        answered = clew("approve", "last", "--answer", "blue")
        assert answered.code == 0
        assert "Go on with: clew resume " in answered.out
        again = clew("reject", "last")
        assert (again.code, again.out) == (2, "")
        assert "1.1 was ruled on already, and the first word counts: clew resume " in again.err
        resumed = clew("resume", "last", env=with_model(server))
    assert resumed.code == 0
    assert "Observation 1.1: blue" in resumed.out
    assert clew("replay", "last").code == 0


def test_held_calls_are_told_to_programs() -> None:
    with OpenAIServer([QUESTION]) as server:
        done = clew(*ASK, "--json", env=with_model(server))
    assert done.code == 4
    (held,) = done.document["held"]
    assert (held["call"], held["tool"], held["args"]) == (
        "1.1",
        "ask_person",
        {"question": "Which colour?"},
    )


def test_a_refusal_tells_the_model_why() -> None:
    with OpenAIServer([QUESTION, Say("Then not.")]) as server:
        clew(*ASK, env=with_model(server))
        assert clew("reject", "last", "1.1", "--why", "decide yourself").code == 0
        resumed = clew("resume", "last", env=with_model(server))
        assert "decide yourself" in str(server.requests[-1].body["messages"])
    assert resumed.code == 0


async def pay(args: dict[str, Json], _key: str) -> str:
    return f"paid {args['amount']}"


async def hold(call: Call, _so_far: Trajectory) -> Verdict | None:
    return Verdict("hold", "it costs money") if call.action.name == "pay" else None


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
    assert clew("approve", run_id, "--edit", '{"amount": 10}', "--why", "less").code == 0
    shown = resumed(agent, run_id)
    assert "paid 10" in shown
    assert 'Ruling 1.1: allowed with {"amount":10}: less' in shown


def resumed(agent: Agent, run_id: str) -> str:
    assert resume_sync(agent, run_id).ok
    return clew("show", run_id).out
