"""The calls that wait for a person in one run, for programs that show approvals.

`pending_here` reads one record, `pending_in` its sub-runs too, and `root_of` names the run to
resume after a ruling. `clew.pending_approvals` lists all runs, and `clew.rule` rules.
"""

from clew.core.approvals import root_of
from clew.core.pending import pending_here, pending_in

__all__ = ["pending_here", "pending_in", "root_of"]
