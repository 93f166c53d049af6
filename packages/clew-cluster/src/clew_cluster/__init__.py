"""Many machines: records in PostgreSQL, and workers over DBOS, Ray or Temporal.

Each part stands on an extra of its name: `clew_cluster.postgres`, `clew_cluster.dbos`,
`clew_cluster.ray` and `clew_cluster.temporal`.
"""
