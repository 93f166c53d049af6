"""Who calls `advance` until a run is done: this process, DBOS, Ray.

A driver keeps no log of its own. What is due, what was done and what waits for a person stands in
the records; a driver that is killed, or replaced by another kind, takes up what they say.
`serving` says what a module must offer to be a driver of `clew worker`.
"""

from clew.drivers.carry import Agents, carry
from clew.drivers.serving import QUEUE, News, Serving, Tell

__all__ = ["QUEUE", "Agents", "News", "Serving", "Tell", "carry"]
