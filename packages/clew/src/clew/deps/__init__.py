"""What an application gives to its runs, and the context by which parts of an agent get at it.

A tool, guard, check, approval rule or tail of a prompt that has a parameter of type
`RunContext[Deps]` gets it. Nothing of it is recorded: a run that is taken up again gets it from the
agent's factory, which is told who the run is.
"""

from clew.deps.parts import ContextCheck, ContextGuard, guard_with_context
from clew.deps.run_identity import MakeDeps, RunIdentity

__all__ = ["ContextCheck", "ContextGuard", "MakeDeps", "RunIdentity", "guard_with_context"]
