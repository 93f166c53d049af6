"""What waits for a person in one run, for programs that show approvals; `clew.held` has all runs.

`held_here` says what a record itself says, `held_in` also looks into its sub-runs, and `root_of`
names the run that is resumed when a call was ruled on. `clew.rule` leaves the word.
"""

from clew.core.approvals import root_of
from clew.core.pending import held_here, held_in

__all__ = ["held_here", "held_in", "root_of"]
