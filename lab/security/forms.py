"""The forms in which a model writes its calls, and in which an agent does a task."""

from collections.abc import Sequence
from typing import Any, Final, Literal

from clew import Agent, Tool, delegate
from clew.core.events import Action, Reply
from clew.testing import Move, ScriptedModel, act, finish, say
from clew_code.programs import run_code
from security.dojo import Made

Form = Literal["native", "json", "labelled", "program", "worker"]
FORMS: Final[dict[Form, str]] = {
    "native": "calls as providers have them",
    "json": "the format `json`",
    "labelled": "the format `labelled`",
    "program": "programs that call the tools",
    "worker": "calls of a sub-agent, which an agent gives the whole task",
}

_PROGRAM: Final = """\
try:
    print({name}({args}))
except Exception as error:
    print(error)
"""


def codec(form: Form) -> str:
    """The format of an agent."""
    return form if form in {"json", "labelled"} else "native"


def tools_of(form: Form, tools: Sequence[Tool]) -> list[Tool]:
    """The tools of an agent, with the one that runs programs."""
    return [*tools, run_code()] if form == "program" else [*tools]


def written(form: Form, tools: Sequence[Tool], calls: Sequence[Made], number: int) -> Reply:
    """A reply with these calls."""
    if form == "program":
        program = "".join(
            _PROGRAM.format(name=name, args=", ".join(f"{k}={v!r}" for k, v in args.items()))
            for name, args in calls
        )
        move = act("run_code", code=program)
    else:
        move = Move(actions=tuple(Action(name, args) for name, args in calls))
    return _reply(form, tools, move, number)


def answered(form: Form, tools: Sequence[Tool], answer: str, number: int) -> Reply:
    """A reply with the answer."""
    move = say(answer) if codec(form) == "native" else finish(answer)
    return _reply(form, tools, move, number)


def _reply(form: Form, tools: Sequence[Tool], move: Move, number: int) -> Reply:
    return ScriptedModel([], codec=codec(form), tools=tools).written(move, number)


def agent_of(form: Form, agent: Agent[str], request: str) -> Agent[Any]:
    """The agent that is asked: itself, or one that gives all of it to it."""
    if form != "worker":
        return agent
    worker = delegate(agent, name="worker", description="Does a task.")
    model = ScriptedModel([act("worker", task=request), say("Done.")], plan=[])
    return agent.replace(model=model, tools=[worker])
