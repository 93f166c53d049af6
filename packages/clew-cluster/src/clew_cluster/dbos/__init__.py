"""Workers over DBOS: durable work over machines, on the PostgreSQL that holds the records."""

from clew.support.extras import missing_extra

try:
    from clew_cluster.dbos.dbos_queue import NotSetUpError
    from clew_cluster.dbos.driver import DbosDriver, serve
    from clew_cluster.versions import version_of
except ModuleNotFoundError as missing:
    raise missing_extra(missing, "dbos", "clew-cluster") from missing

__all__ = ["DbosDriver", "NotSetUpError", "serve", "version_of"]
