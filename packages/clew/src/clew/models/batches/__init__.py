"""Models asked through their provider's batch interface, at half price: `batch:provider:model`."""

from clew.models.batches.model import Batched

__all__ = ["Batched"]
