"""Workers over Ray: actors, on one machine or many, that do nothing but carry runs."""

from clew.workers.ray.driver import Cast, End, OnProgress, Progress, RayDriver, fan_out, serve

__all__ = ["Cast", "End", "OnProgress", "Progress", "RayDriver", "fan_out", "serve"]
