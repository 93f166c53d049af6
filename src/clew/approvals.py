"""The calls that wait for a person in one run, for programs that show approvals.

`held_here` reads one record, `held_in` its sub-runs too, and `root_of` names the run to resume
after a ruling. `clew.held` lists all runs, and `clew.rule` rules.
"""

from clew.core.approvals import root_of
from clew.core.pending import held_here, held_in

__all__ = ["held_here", "held_in", "root_of"]
