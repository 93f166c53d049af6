"""The forms in which a model writes its calls, and in which an agent does a task."""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final, Literal

from clew import Agent, Tool, delegate
from clew.core.actions import Action
from clew.core.contents import Reply
from clew.core.models import ModelInfo, OnText
from clew.core.prompts import Prompt
from clew.core.tools import AnyTool
from clew.guards import Provenance
from clew.testing import USAGE, Move, ScriptedModel, act, finish, say
from clew_code.programs import run_code
from security.dojo import Made
from security.labels import LABELS

Form = Literal[
    "native",
    "json",
    "labelled",
    "program",
    "mcp",
    "memory",
    "worker",
    "team",
    "reflexion",
    "rewoo",
    "plan_and_solve",
    "orchestrator",
    "evaluator_optimizer",
    "routing",
    "chaining",
    "tree_search",
]
FORMS: Final[dict[Form, str]] = {
    "native": "calls as providers have them",
    "json": "the format `json`",
    "labelled": "the format `labelled`",
    "program": "programs that call the tools",
    "mcp": "tools as those of a foreign server: of no result is any field trusted",
    "memory": "a second conversation, told what the first one read and remembered",
    "worker": "calls of a sub-agent, which an agent gives the whole task",
    "team": "an agent that reads, and tells a sub-agent without the guard each call that acts",
    "reflexion": "the strategy `reflexion`",
    "rewoo": "the strategy `rewoo`, whose plan of calls is made before anything is read",
    "plan_and_solve": "the strategy `plan_and_solve`",
    "orchestrator": "the strategy `orchestrator`",
    "evaluator_optimizer": "the strategy `evaluator_optimizer`",
    "routing": "the strategy `routing`",
    "chaining": "the strategy `chaining`",
    "tree_search": "the strategy `tree_search`, with one branch",
}

_PROGRAM: Final = """\
try:
    print({name}({args}))
except Exception as error:
    print(error)
"""


_TOLD: Final = "Make this call: "


def codec(form: Form) -> str:
    """The format of an agent."""
    return form if form in {"json", "labelled"} else "native"


def tools_of(form: Form, tools: Sequence[Tool]) -> list[AnyTool]:
    """The tools of an agent, with the one that runs programs, or the agent that acts."""
    if form == "mcp":
        return [_foreign(tool) for tool in tools]
    if form == "program":
        return [*tools, run_code()]
    if form != "team":
        return [*tools]
    acting = [tool for tool in tools if LABELS[tool.name].harmful]
    doer = Agent(model=Doer(), tools=acting, guards=[Provenance("off")])
    reading = [tool for tool in tools if tool not in acting]
    return [*reading, delegate(doer, name="doer", description="Makes one call.")]


def _foreign(tool: Tool) -> Tool:
    """The tool as a server that nobody vouches for has it; what a person says of it stays."""
    labels = replace(tool.labels, foreign=True, trusted=())
    return replace(tool, trust="untrusted", labels=labels)


class Doer:
    """A model that makes the one call that it is told, and that plans it where its request has it.

    It keeps nothing.
    """

    @property
    def info(self) -> ModelInfo:
        """What it is called."""
        return ModelInfo("simulated:doer")

    async def complete(self, prompt: Prompt, on_text: OnText | None = None) -> Reply:
        """The call, or that it is done."""
        words = "".join(part.text for part in prompt if part.role == "user")
        _, told, call = words.partition(_TOLD)
        name, args = json.JSONDecoder().raw_decode(call)[0] if told else ("", {})
        if prompt.purpose == "plan":
            calls = [{"tool": name, "args": args}] if told else []
            return Reply(text=json.dumps({"calls": calls}), usage=USAGE, model=self.info.name)
        if any(part.role == "assistant" for part in prompt):
            return _reply("native", (), say("Done."), 2)
        return _reply("native", (), Move(actions=(Action(name, args),)), 1)


def written(form: Form, tools: Sequence[AnyTool], calls: Sequence[Made], number: int) -> Reply:
    """A reply with these calls."""
    if form == "program":
        program = "".join(
            _PROGRAM.format(name=name, args=", ".join(f"{k}={v!r}" for k, v in args.items()))
            for name, args in calls
        )
        move = act("run_code", code=program)
    elif form == "team":
        move = Move(actions=tuple(_told(call) for call in calls))
    else:
        move = Move(actions=tuple(Action(name, args) for name, args in calls))
    return _reply(form, tools, move, number)


def _told(call: Made) -> Action:
    if LABELS[call[0]].harmful:
        return Action("doer", {"task": f"{_TOLD}{json.dumps(call)}"})
    return Action(*call)


def answered(form: Form, tools: Sequence[AnyTool], answer: str, number: int) -> Reply:
    """A reply with the answer."""
    move = say(answer) if codec(form) == "native" else finish(answer)
    return _reply(form, tools, move, number)


def _reply(form: Form, tools: Sequence[AnyTool], move: Move, number: int) -> Reply:
    plain = [tool for tool in tools if isinstance(tool, Tool)]
    return ScriptedModel([], codec=codec(form), tools=plain).written(move, number)


def agent_of(form: Form, agent: Agent[str], request: str) -> Agent[Any]:
    """The agent that is asked: itself, or one that gives all of it to it."""
    if form != "worker":
        return agent
    worker = delegate(agent, name="worker", description="Does a task.")
    model = ScriptedModel([act("worker", task=request), say("Done.")], plan=[])
    return agent.replace(model=model, tools=[worker])
