"""Many machines: records in PostgreSQL, and workers over DBOS or Ray.

Each part stands on an extra of its name: `clew_cluster.postgres`, `clew_cluster.dbos` and
`clew_cluster.ray`.
"""
