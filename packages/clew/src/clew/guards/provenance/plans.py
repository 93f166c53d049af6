"""Which planned call a call is, of those that are left."""

from collections.abc import Collection, Iterator, Mapping, Sequence

from clew.core.events import Json, PlannedCall
from clew.core.trajectory import Call, Trajectory
from clew.guards.provenance.origins import Made, Origins
from clew.guards.provenance.values import leaves


def let_through(trajectory: Trajectory, until: Call | None, names: Collection[str]) -> list[Made]:
    """The judged calls of the step, up to a call, that are not made yet and will be."""
    return [
        (other.action.name, other.args)
        for other in trajectory.step.all_calls
        if other.action.name in names
        and (until is None or other.position < until.position)
        and other.observation is None
        and not other.held
    ]


def unmade(origins: Origins, made: Sequence[Made]) -> list[PlannedCall]:
    """The planned calls that are not made yet, and that no sub-run may still make."""
    left = [*(origins.planned or ())]
    for lent in origins.lent.values():
        for each in lent:
            if each in left:
                left.remove(each)
    for name, args in made:
        if (hit := fitting(left, name, args)) is not None:
            left.remove(hit)
    return left


def fitting(
    planned: Sequence[PlannedCall], name: str, args: Mapping[str, Json]
) -> PlannedCall | None:
    """The planned call that a call is: the same tool, and all arguments that the plan binds.

    Of several it is the one that binds most of them.
    """
    fits = (
        each
        for each in planned
        if each.tool == name and all(args.get(key) == value for key, value in each.args.items())
    )
    return max(fits, key=lambda each: len(each.args), default=None)


def carried(origins: Origins) -> list[str]:
    """The texts of the request that planned calls only carry: words in them decide nothing."""
    return [*_carried(origins)]


def _carried(origins: Origins) -> Iterator[str]:
    for call in origins.planned or ():
        if (tool := origins.tools.get(call.tool)) is not None:
            for name in tool.labels.content:
                for each in leaves(call.args.get(name)):
                    if isinstance(each, str) and each:
                        yield each
