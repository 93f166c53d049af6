"""Models by name: a short list of files at Hugging Face, fetched when somebody asks for it."""

import hashlib
import os
import re
from pathlib import Path
from typing import Any, Final, cast

import httpx2
import huggingface_hub
import msgspec

from clew import ConfigError, ModelError
from clew.support.error_text import message_of

_HUB: Final = cast("Any", huggingface_hub)  # of its types a part is unknown

_SHA256: Final = re.compile(r"[0-9a-f]{64}")


class ListedModel(msgspec.Struct, frozen=True):
    """A model by name: its repository and file there, about how many gigabytes, and its licence.

    `sha256` is the file's sum where it was known when the list was written; else the hub's own
    statement of it is what a download is held to.
    """

    name: str
    repo: str
    file: str
    gigabytes: float
    licence: str = "Apache-2.0"
    sha256: str = ""


LISTED: Final = (
    ListedModel(
        "qwen2.5-0.5b-instruct",
        "Qwen/Qwen2.5-0.5B-Instruct-GGUF",
        "qwen2.5-0.5b-instruct-q4_k_m.gguf",
        0.5,
    ),
    ListedModel(
        "qwen2.5-1.5b-instruct",
        "Qwen/Qwen2.5-1.5B-Instruct-GGUF",
        "qwen2.5-1.5b-instruct-q4_k_m.gguf",
        1.1,
    ),
    ListedModel(
        "qwen2.5-coder-1.5b-instruct",
        "Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF",
        "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
        1.1,
        sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
    ),
    ListedModel(
        "smollm2-1.7b-instruct",
        "HuggingFaceTB/SmolLM2-1.7B-Instruct-GGUF",
        "smollm2-1.7b-instruct-q4_k_m.gguf",
        1.1,
    ),
    ListedModel("qwen3-4b", "Qwen/Qwen3-4B-GGUF", "Qwen3-4B-Q4_K_M.gguf", 2.5),
)
"""Instruct models that are free to use, from small to large."""


def _cache() -> str | None:
    """The cache that the environment names now; the library looks only when it is imported."""
    return os.environ.get("HF_HUB_CACHE")


def listed(name: str) -> ListedModel | None:
    """The model of that name in the list."""
    return next((one for one in LISTED if one.name == name), None)


def downloaded(model: ListedModel) -> Path | None:
    """Where its file is in the user's cache; None where it is not."""
    cached = huggingface_hub.try_to_load_from_cache(model.repo, model.file, _cache())
    return Path(cached) if isinstance(cached, str) else None


def download(model: ListedModel) -> Path:
    """Fetch its file into the user's cache, where it is not there yet, and check its sum.

    A download that was cut goes on where it ended. HF_ENDPOINT names another hub and HF_HUB_CACHE
    another cache. Raises `ModelError` where it cannot be fetched, or is not what it should be.
    """
    try:
        path = Path(
            _HUB.hf_hub_download(
                model.repo,
                model.file,
                cache_dir=_cache(),
                endpoint=os.environ.get("HF_ENDPOINT"),
            )
        )
        blob = path.resolve()
        with blob.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    except (OSError, httpx2.HTTPError, ValueError) as error:
        why = message_of(error)
        message = f"local:{model.name} was not downloaded from {model.repo}: {why[:200]}"
        raise ModelError(message) from error
    wanted = model.sha256 or (blob.name if _SHA256.fullmatch(blob.name) else digest)
    if digest != wanted:
        blob.unlink()
        path.unlink(missing_ok=True)
        message = (
            f"local:{model.name}: the file from {model.repo} is not what it should be (its SHA-256 "
            f"is {digest[:12]}…, not {wanted[:12]}…), and was removed: download it again"
        )
        raise ModelError(message)
    return path


def path_of(name: str) -> Path:
    """The file of a listed model (`ConfigError` where it is not here), or the path as given."""
    if (model := listed(name)) is None:
        return Path(name).expanduser()
    if (path := downloaded(model)) is None:
        message = (
            f"local:{name} is not here yet: run clew doctor models --download {name} "
            f"(about {model.gigabytes:g} GB, {model.licence})"
        )
        raise ConfigError(message)
    return path
