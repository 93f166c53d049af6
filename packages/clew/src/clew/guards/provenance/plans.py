"""Which planned call a call is, of those that are left."""

from collections.abc import Collection, Mapping, Sequence

from clew.core.actions import PlannedCall
from clew.core.trajectory import Call, Trajectory
from clew.core.values import Json
from clew.guards.provenance.origins import Made, Origins


def let_through(trajectory: Trajectory, until: Call | None, names: Collection[str]) -> list[Made]:
    """The judged calls of the step, up to a call, that are not made yet and will be."""
    return [
        (other.action.name, other.args)
        for other in trajectory.step.all_calls
        if other.action.name in names
        and other.observation is None
        and not other.held
        and (until is None or (other is not until and other.position < until.position))
    ]


def unmade(origins: Origins, made: Sequence[Made]) -> list[PlannedCall]:
    """The planned calls that are not made yet, and that no sub-run may still make."""
    left = [*(origins.planned or ())]
    for lent in origins.lent.values() if left else ():
        for each in lent:
            if each in left:
                left.remove(each)
    for name, args in made if left else ():
        if (hit := fitting(left, name, args)) is not None:
            left.remove(hit)
    return left


def fitting(
    planned: Sequence[PlannedCall], name: str, args: Mapping[str, Json]
) -> PlannedCall | None:
    """The planned call that a call is: the same tool, and all arguments that the plan binds.

    Of several it is the one that binds most of them.
    """
    best: PlannedCall | None = None
    for each in planned:
        if each.tool == name and (best is None or len(each.args) > len(best.args)):
            best = each if _is_bound_by(each, args) else best
    return best


def _is_bound_by(planned: PlannedCall, args: Mapping[str, Json]) -> bool:
    for key, value in planned.args.items():  # noqa: SIM110 - of few, a loop is half the price
        if args.get(key) != value:
            return False
    return True
