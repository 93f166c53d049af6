"""What the model sees of a run: instructions, demonstrations, and the view of its record."""

from clew.context.compaction import Compaction
from clew.context.demonstrations import DEMONSTRATIONS, demonstrations
from clew.context.instructions import PROMPT, Instructions, instructions
from clew.context.settings import CONTEXT, Context
from clew.context.triggers import Review, Rewinds
from clew.context.variants import SHAPES, VARIANTS, Variant, described, matching
from clew.context.view import View
from clew.context.visible import goal_of

__all__ = [
    "CONTEXT",
    "DEMONSTRATIONS",
    "PROMPT",
    "SHAPES",
    "VARIANTS",
    "Compaction",
    "Context",
    "Instructions",
    "Review",
    "Rewinds",
    "Variant",
    "View",
    "demonstrations",
    "described",
    "goal_of",
    "instructions",
    "matching",
]
