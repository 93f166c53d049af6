"""What operators need beside workers: health, metrics, notices of held runs, dated logs.

`operate` is a worker with `Operations`. `Tally` and `queue_figures` are the one source of all
metrics, which `exposition` writes for Prometheus.
"""

from clew.operations.figures import Figure, Labels, Tally, queue_figures
from clew.operations.held_notices import HeldNotices
from clew.operations.operate import Operations, operate
from clew.operations.prometheus import CONTENT_TYPE, exposition
from clew.operations.receivers import receiver_of

__all__ = [
    "CONTENT_TYPE",
    "Figure",
    "HeldNotices",
    "Labels",
    "Operations",
    "Tally",
    "exposition",
    "operate",
    "queue_figures",
    "receiver_of",
]
