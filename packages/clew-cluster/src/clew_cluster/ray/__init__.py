"""Workers over Ray: actors, on one machine or many, that execute runs."""

from clew.support.extras import missing_extra

try:
    from clew_cluster.ray.actor import ActorResult
    from clew_cluster.ray.driver import RayDriver, serve
    from clew_cluster.ray.fan_out import FanOutProgress, OnProgress, fan_out
except ModuleNotFoundError as missing:
    raise missing_extra(missing, "ray", "clew-cluster") from missing

__all__ = ["ActorResult", "FanOutProgress", "OnProgress", "RayDriver", "fan_out", "serve"]
