"""What whoever asks may do: four roles, each of which may all that those before it may."""

from typing import Final, Literal, TypeAlias, get_args

Role: TypeAlias = Literal["look", "rule", "run", "admin"]
"""To see one's own runs; to decide on calls (who has no more than that is a reviewer, and
does so for everybody's runs that wait); to begin, steer and end runs; to see and steer everybody's.
"""

ROLES: Final[tuple[Role, ...]] = get_args(Role)


def may(has: Role, needs: Role) -> bool:
    """Whether who has a role may do what needs another."""
    return ROLES.index(has) >= ROLES.index(needs)
