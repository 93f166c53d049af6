"""What the model sees of a run: instructions, demonstrations, and the view of its record."""

from clew.context.demonstrations import DEMONSTRATIONS, demonstrations
from clew.context.instructions import PROMPT, Instructions, instructions
from clew.context.variants import SHAPES, VARIANTS, Variant, described, matching
from clew.context.view import View, goal_of

__all__ = [
    "DEMONSTRATIONS",
    "PROMPT",
    "SHAPES",
    "VARIANTS",
    "Instructions",
    "Variant",
    "View",
    "demonstrations",
    "described",
    "goal_of",
    "instructions",
    "matching",
]
