"""What waits for a person, as it is shown: the call, why, and the commands that rule on it."""

from collections.abc import Iterator

from clew.cli.places import command
from clew.cli.render import Shown, written
from clew.cli.visible import inert
from clew.core.events import Action, Json
from clew.core.pending import Held
from clew.toolbox.person import ASK


def document(each: Held) -> dict[str, Json]:
    """A call that waits for a ruling, for programs."""
    return {
        "run_id": each.run_id,
        "call": each.call,
        "tool": each.tool,
        "args": each.args,
        "why": each.why,
        "at": each.at,
        "root": each.root,
    }


def held_call(each: Held, run_id: str = "") -> Shown:
    """The call that waits: its run where that is not `run_id`, its tool, its arguments, and why."""
    made = written(Action(each.tool, each.args), whole=True)
    place = each.call if each.run_id == run_id else f"{each.run_id} {each.call}"
    return Shown(f"Held {inert(place)}", f"{made}\n{inert(each.why)}", "yellow")


def render_held(each: Held, store: str | None, run_id: str = "") -> Iterator[Shown]:
    """A call that waits, in whichever run; that is named where it is not `run_id`."""
    yield held_call(each, run_id)
    if each.tool == ASK:
        answer = command("approve", each.run_id, each.call, "--answer", "TEXT", store=store)
        yield Shown("Answer it", answer)
    else:
        yield Shown("Allow", command("approve", each.run_id, each.call, store=store))
    yield Shown("Refuse", command("reject", each.run_id, each.call, "--why", "REASON", store=store))
