"""A post office for tests of what strategies do in the world: its letters, and who is asked."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from clew import Agent, Call, Tool, Trajectory, Verdict, tool
from clew.guards import Provenance
from clew.interfaces import Json
from clew.support.errors import ToolError
from tests.strategies.test_programs import Rules

PLAN = "You plan all tool calls"
SOLVE = "Answer the task from"
CLERK = "You are the clerk"
JUDGE = "You judge the work"
REFLECT = "You worked on a task"


@dataclass
class Post:
    """The letters that were sent, in order; `fails` is what sending raises instead."""

    letters: list[str] = field(default_factory=list)
    fails: Exception | None = None
    people: dict[str, Json] = field(
        default_factory=lambda: {
            "Ada": {"email": "ada@x.org", "phone": None, "tags": ["a", "b"], "note": ""}
        }
    )

    @property
    def send(self) -> Tool:
        """The tool `send`."""

        @tool(effect="unsafe")
        def send(to: str, text: str = "") -> str:
            """Send a letter.

            Args:
                to: The address.
                text: What it says.
            """
            if self.fails is not None:
                raise self.fails
            self.letters.append(f"{to}: {text}" if text else to)
            return "sent"

        return send

    @property
    def look(self) -> Tool:
        """The tool `look`."""

        @tool(effect="read")
        def look(name: str) -> Json:
            """Look somebody up.

            Args:
                name: Whom.
            """
            if name not in self.people:
                raise ToolError(f"nobody is called {name}")
            return self.people[name]

        return look

    def clerk(self, model: Rules, **fields: Any) -> Agent:
        """The agent that works there."""
        guards = [*fields.pop("guards", ()), Provenance("off")]
        return Agent(model, [self.look, self.send], prompt=f"{CLERK}.", guards=guards, **fields)


def planned(*calls: dict[str, Json], **by: Callable[[str], Json]) -> Rules:
    """A model that plans these calls; a run that looks for another way does not know."""
    return Rules(
        {
            PLAN: lambda task: {"calls": [*calls]},
            SOLVE: lambda task: "told: " + " | ".join(task.splitlines()[2:]),
            CLERK: by.get("clerk", lambda task: {"value": None, "why": "I do not know"}),
        }
    )


def step(id_: str, tool: str, **args: Json) -> dict[str, Json]:
    """A planned call."""
    return {"id": id_, "tool": tool, "args": args}


def hold_letters(call: Call, trajectory: Trajectory) -> Verdict | None:
    """A guard: a person sees each letter first."""
    del trajectory
    return Verdict("hold", "a letter") if call.action.name == "send" else None


def deny_letters(call: Call, trajectory: Trajectory) -> Verdict | None:
    """A guard: no letters."""
    del trajectory
    return Verdict("deny", "no letters") if call.action.name == "send" else None


def known_only(call: Call, trajectory: Trajectory) -> Verdict | None:
    """A guard that denies every name it does not know."""
    del trajectory
    return None if call.action.name in {"look", "finish"} else Verdict("deny", "unknown name")


def one_letter(call: Call, trajectory: Trajectory) -> Verdict | None:
    """A guard that counts what the run has sent."""
    sent = sum(
        each.action.name == "send" and each.observation is not None for each in trajectory.calls
    )
    return Verdict("deny", "one letter") if call.action.name == "send" and sent else None


async def mend_address(call: Call, trajectory: Trajectory) -> Verdict | None:
    """A guard that amends."""
    del trajectory
    if call.action.name != "send" or call.args["to"].endswith("@y.org"):
        return None
    return Verdict("amend", "to the new domain", args={**call.args, "to": "new@y.org"})


def after_looking(call: Call, trajectory: Trajectory) -> Verdict | None:
    """A guard that wants a look before a letter, and before the answer."""
    looked = any(each.action.name == "look" and each.observation for each in trajectory.calls)
    acts = call.action.name in {"send", "finish"}
    return Verdict("deny", "look first") if acts and not looked else None


def enough(trajectory: Trajectory) -> str | None:
    """A bound of one's own: one letter is enough."""
    sent = sum(each.action.name == "send" and each.changed for each in trajectory.calls)
    return "letters: one was sent" if sent else None
