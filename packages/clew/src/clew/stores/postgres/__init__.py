"""Records in a PostgreSQL database: extra `postgres`."""

from clew.support.extras import missing_extra

try:
    from clew.stores.postgres.store import PostgresStore
except ImportError as missing:
    raise missing_extra(missing, "postgres") from missing

__all__ = ["PostgresStore"]
