"""What a model is told before the question: instructions, variants for models, demonstrations."""

from clew.prompts.demonstrations import DEMONSTRATIONS, demonstrations
from clew.prompts.instructions import PROMPT, Instructions
from clew.prompts.variants import SHAPES, VARIANTS, Variant, described, matching, prompt_text

__all__ = [
    "DEMONSTRATIONS",
    "PROMPT",
    "SHAPES",
    "VARIANTS",
    "Instructions",
    "Variant",
    "demonstrations",
    "described",
    "matching",
    "prompt_text",
]
