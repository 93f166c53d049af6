"""Rewinding: a wrong branch leaves the view, a lesson stays, and the record keeps all of it.

What comes before the branch stays as it was sent, to the byte, so the provider's cache holds it.
Effects stay done and are said; what was spent stays spent.
"""

from collections.abc import Mapping
from typing import Final, Protocol

from clew.core.events import Rewound
from clew.core.tools import AnyTool
from clew.core.trajectory import Trajectory

BACKTRACK: Final = "backtrack"
VERSION: Final = "backtrack/1"
"""The name and the version of the tool by which a model rewinds."""

MODEL: Final = "model"
"""Who rewinds, where a model does."""


REPEATED: Final = "clew: repeated"
REJECTED: Final = "clew: rejected"
CRITIC: Final = "clew: critic"
OWN: Final = frozenset({REPEATED, REJECTED, CRITIC})
"""Who rewinds, where a run does so by itself: for calls in vain, for answers, or for a critic."""


class Decides(Protocol):
    """Finds out from the record when a run goes back by itself: `clew.Rewinds`."""

    def due(self, trajectory: Trajectory, tries: int) -> Rewound | None:
        """The rewind that the record calls for before the next thought."""
        ...


def way_back(
    trajectory: Trajectory, tools: Mapping[str, AnyTool], rewinds: Decides | None, tries: int
) -> Rewound | None:
    """The rewind before the next thought: the model's own, or one that the record calls for."""
    back = asked_back(trajectory, tools)
    return back if back or rewinds is None else rewinds.due(trajectory, tries)


def asked_back(trajectory: Trajectory, tools: Mapping[str, AnyTool]) -> Rewound | None:
    """The rewind that the last step asked for with our `backtrack`, if it is not made yet."""
    tool, step = tools.get(BACKTRACK), trajectory.step
    if tool is None or tool.version != VERSION:
        return None
    if any(isinstance(notice, Rewound) for notice in step.notices):
        return None
    for call in step.calls:
        if call.action.name == BACKTRACK and call.observation is not None and call.observation.ok:
            return Rewound(int(call.args["step"]), str(call.args["lesson"]), MODEL)
    return None
