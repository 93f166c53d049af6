"""Records in a PostgreSQL database: extra `postgres`."""

from clew.support.extras import missing_extra

try:
    from clew_cluster.postgres.store import PostgresStore
except ImportError as missing:
    raise missing_extra(missing, "postgres", "clew-cluster") from missing

__all__ = ["PostgresStore"]
