"""The wire formats, by the name of the provider in front of a model's."""

from collections.abc import Mapping
from typing import Final

from benchmarks.formats import chat, gemini, messages, responses
from benchmarks.formats.shapes import Format

FORMATS: Final[Mapping[str, Format]] = {
    "openai": chat,
    "openai-responses": responses,
    "anthropic": messages,
    "google": gemini,
}

_ENDINGS: Final[Mapping[str, Format]] = {
    "/chat/completions": chat,
    "/responses": responses,
    "/messages": messages,
    "enerateContent": gemini,
}


def format_at(path: str) -> Format:
    """The format that is spoken at a path. Raises `ValueError` where there is none."""
    for ending, chosen in _ENDINGS.items():
        if path.endswith(ending):
            return chosen
    raise ValueError(f"nothing is at {path}")
