"""Who calls `advance` until a run is done: this process, DBOS, Ray.

A driver keeps no log of its own. What is due, what was done and what waits for a person stands in
the records; a driver that is killed, or replaced by another kind, takes up what they say.
"""

from clew.drivers.carry import Agents, carry

__all__ = ["Agents", "carry"]
