"""Models asked through their provider's batch interface, at half price: `batch:provider:model`."""

from clew.support.extras import missing_extra

try:
    from clew.models.batches.listing import BatchInfo, forget_batch, open_batches
    from clew.models.batches.model import Batched
except ModuleNotFoundError as missing:
    raise missing_extra(missing, "openai") from missing

__all__ = ["BatchInfo", "Batched", "forget_batch", "open_batches"]
