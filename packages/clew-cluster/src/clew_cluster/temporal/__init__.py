"""Workers over Temporal: one workflow a run, on any store that workers share."""

from clew.support.extras import missing_extra

try:
    from clew_cluster.temporal.driver import TemporalDriver, serve
except ModuleNotFoundError as missing:
    raise missing_extra(missing, "temporal", "clew-cluster") from missing

__all__ = ["TemporalDriver", "serve"]
