"""Whether a call is one that came before: a provider sent the same call twice.

Decided from the record alone, so that a replay and a resumed run come to the same, whatever the
provider. The rules, and why they are these: decision 0071.
"""

import re
from collections.abc import Mapping
from typing import Final

from clew.core.codes import EFFECTFUL, FINISH, RUN_CODE, Code
from clew.core.contents import Observation
from clew.core.received import received_hash
from clew.core.tools import ToolSpec
from clew.core.trajectory import Call, Trajectory

SAME: Final[Code] = "same_call"

_COUNTER: Final = re.compile(
    r"(?:\W|_|(?:[^\W\d_]+[\W_]+)*(?:[^\W\d_]{1,4}|call|tool|tool_?call|func|function|id)?[\W_]*)"
    r"(\d{1,4})(?:[\W_]+\d{1,4})*",
    re.IGNORECASE,
)
"""An id that counts, such as `0`, `c1`, `call_0`, `call_2_1` or `functions.look:0`."""

_KIND: Final = re.compile(r"[\W_]*(?:(?:functions?|tools?|calls?|func|id)[\W_]*)*", re.IGNORECASE)
"""What an id has besides the tool's name where it names only that, such as `functions.look`."""


def repeated(
    trajectory: Trajectory, call: Call, tools: Mapping[str, ToolSpec]
) -> Observation | None:
    """The observation of a call that came before; None for another call."""
    asked = trajectory.call(call.key)
    if not asked.id or len(trajectory.by_id(asked.id)) == 1:
        return None
    if asked.action.name == FINISH or asked.action.fault:
        return None
    tool = tools.get(asked.action.name)
    acts = tool is not None and (tool.effect in EFFECTFUL or _is_program(tool, tools))
    twin = _twin(trajectory, asked, tool, effect=acts)
    if twin is None:
        return None
    told = f"the provider sent this call again (the id {asked.id[:60]!r} is that of {twin.key}): "
    if (seen := twin.observation) is None:
        ok, trust = True, trajectory.trust
        text = f"{told}it is one call, and its result counts for both"
    else:
        ok, trust = seen.ok, seen.trust
        again = "" if twin.step == asked.step else "; to have it made once more, ask again"
        text = f"{told}nothing was done for it{again}. Its result was: {seen.text}"
    return Observation(call.key, text, ok=ok, code=SAME, outcome="not_done", trust=trust)


def _is_program(tool: ToolSpec, tools: Mapping[str, ToolSpec]) -> bool:
    """Whether its calls make calls of other tools, of which one has an effect."""
    return tool.name == RUN_CODE and any(one.effect in EFFECTFUL for one in tools.values())


def _twin(
    trajectory: Trajectory, call: Call, tool: ToolSpec | None, *, effect: bool
) -> Call | None:
    """The earlier call that this one is.

    Within a reply an equal id is enough. Across replies the id of a call without an effect, or of
    one that did not happen, decides nothing. For an effect it is taken for evidence once: a model
    that was told, and asks again, wants another call, and the server gives one id to both.
    """
    earlier = [other for other in trajectory.by_id(call.id) if _position(other) < _position(call)]
    if call.action.name == RUN_CODE:  # in a branch that was taken back it is another program
        earlier = [other for other in earlier if other.step not in trajectory.omitted.hidden]
    request = _request(call, tool)
    equal = [other for other in earlier if _request(other, tool) == request]
    made = [other for other in equal if other.observation is None or other.observation.code != SAME]
    if not made:
        return None
    twin = made[-1]
    if twin.step == call.step:  # unless that one was put off, and this is its turn
        return None if (it := twin.observation) and it.code == "waits" else twin
    if not effect or len(earlier) != len(equal) or _says_nothing(call) or _did_not_happen(twin):
        return None
    steps = {call.step, *(each.step for each in made)}
    told = any(other.step not in steps for other in equal)
    return None if told else twin


def _says_nothing(call: Call) -> bool:
    """Whether the id is the number of the call in its reply, or the name of the tool."""
    rest = call.id.replace(call.action.name, "", 1)
    if _KIND.fullmatch(rest):
        return True
    counted = _COUNTER.fullmatch(rest)
    return counted is not None and int(counted[1]) == call.position - 1


def _did_not_happen(call: Call) -> bool:
    """Whether making the call again repeats nothing, and no person was asked about it."""
    seen = call.observation
    return seen is not None and seen.outcome == "not_done" and call.ruling is None


def _request(call: Call, tool: ToolSpec | None) -> str:
    """Identifies what the model asked for, before anybody changed it: as the tool receives it."""
    asked = Call(call.key, call.action)
    if tool is None or tool.name != call.action.name:
        return asked.hash
    return received_hash(tool, asked.args)


def _position(call: Call) -> tuple[int, int]:
    return call.step, call.position
