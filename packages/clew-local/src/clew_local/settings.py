"""How much of this machine a local model may take."""

import os
from collections.abc import Mapping
from typing import Final

import msgspec
import psutil

from clew import ConfigError
from clew.support.settings import check_fields

CONTEXT: Final = 8_192
"""Tokens of prompt and reply together, where the model was trained for as many."""

SPARE: Final = 300 << 20
"""Bytes beside the file and its cache: buffers of the computation."""


class LocalSettings(msgspec.Struct, frozen=True):
    """What a model in this process may take.

    `context` tokens for the prompt and reply of each run (at most what the model was trained for;
    0: 8,192), `slots` runs at once, `threads` of the processor (0: one for each core). With
    `grammar` a reply can only have the agent's format. `cache` is a folder in which the processed
    beginnings of prompts are kept from process to process; "": nowhere.
    """

    context: int = 0
    slots: int = 2
    threads: int = 0
    grammar: bool = True
    cache: str = ""

    def __post_init__(self) -> None:
        """Refuse what no machine can do."""
        check_fields(self)
        for name, minimum in (("context", 0), ("slots", 1), ("threads", 0)):
            if getattr(self, name) < minimum:
                message = f"{name} of a local model is {getattr(self, name)}: at least {minimum}"
                raise ConfigError(message)

    @property
    def cores(self) -> int:
        """How many threads compute."""
        return self.threads or psutil.cpu_count(logical=False) or os.cpu_count() or 1


def settings_from(env: Mapping[str, str], settings: LocalSettings | None = None) -> LocalSettings:
    """The settings, `CLEW_LOCAL_CONTEXT`, `_SLOTS`, `_THREADS` and `_GRAMMAR` where none are given.

    Raises `ConfigError` for what is no number.
    """
    if settings is not None:
        return settings
    texts = {
        field: text
        for field in LocalSettings.__struct_fields__
        if (text := env.get(f"CLEW_LOCAL_{field.upper()}"))
    }
    try:
        return msgspec.convert(texts, LocalSettings, strict=False)
    except msgspec.ValidationError as error:
        message = f"CLEW_LOCAL_…: {error}; give whole numbers, and true or false for the grammar"
        raise ConfigError(message) from error
