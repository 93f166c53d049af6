"""The driver over DBOS, as the storms use it: a module of its own, for only they need the extra."""

from typing import Any

from clew import Agent
from clew.workers.dbos import DbosDriver, version_of
from clew.workers.worker import Orders


def driver(store: Any, orders: Orders, agent: Agent) -> DbosDriver:
    """The driver, for this agent."""
    return DbosDriver(store, orders, version_of([agent]))
