"""Workers over Ray: actors, on one machine or many, that do nothing but carry runs."""

from clew.support.extras import missing_extra

try:
    from clew.workers.ray.driver import (
        Cast,
        End,
        OnProgress,
        Progress,
        RayDriver,
        fan_out,
        serve,
    )
except ModuleNotFoundError as missing:
    raise missing_extra(missing, "ray") from missing

__all__ = ["Cast", "End", "OnProgress", "Progress", "RayDriver", "fan_out", "serve"]
