"""The driver over DBOS, as the storms use it: a module of its own, for only they need the extra."""

from typing import Any

from clew import Agent
from clew.drivers.dbos import DbosDriver, version_of
from clew.drivers.worker import Orders


def driver(store: Any, orders: Orders, agent: Agent) -> DbosDriver:
    """The driver, for this agent."""
    return DbosDriver(store, orders, version_of([agent]))
