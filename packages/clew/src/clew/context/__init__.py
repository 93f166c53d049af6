"""What the model sees of a run: instructions, demonstrations, and the view of its record."""

from clew.context.compaction import Compaction
from clew.context.demonstrations import demonstrations
from clew.context.history import ContextRow, context_history
from clew.context.instructions import PROMPT, Instructions
from clew.context.settings import Context
from clew.context.triggers import Review, Rewinds
from clew.context.variants import VARIANTS, Variant
from clew.core.codec import Example

__all__ = [
    "PROMPT",
    "VARIANTS",
    "Compaction",
    "Context",
    "ContextRow",
    "Example",
    "Instructions",
    "Review",
    "Rewinds",
    "Variant",
    "context_history",
    "demonstrations",
]
