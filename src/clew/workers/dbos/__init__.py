"""Workers over DBOS: durable work over machines, on the PostgreSQL that holds the records."""

from clew.workers.dbos.driver import DbosDriver, serve, version_of

__all__ = ["DbosDriver", "serve", "version_of"]
