"""Models that run in this process, from a GGUF file: `local:PATH.gguf`, `local:NAME`."""

import os
from collections.abc import Mapping, Sequence
from typing import Final, Unpack

from clew import ConfigError
from clew.models import Offered
from clew.models.http.endpoint import HttpSettings
from clew.models.validate import check_options
from clew_local.download import (
    LISTED,
    ListedModel,
    download,
    downloaded,
    listed,
    path_of,
)
from clew_local.gguf_header import GgufHeader, read_header
from clew_local.model import LocalModel
from clew_local.settings import LocalSettings, settings_from
from clew_local.weights import weights_of

__all__ = [
    "LISTED",
    "GgufHeader",
    "ListedModel",
    "LocalModel",
    "LocalSettings",
    "download",
    "downloaded",
    "listed",
    "local_model",
    "read_header",
]


class LocalModels:
    """`local:NAME` for the command line: makes a model, lists those that can be fetched."""

    def __call__(self, name: str, **settings: Unpack[HttpSettings]) -> LocalModel:
        """The model of a file, or of a listed name."""
        return local_model(name, **settings)

    def offered(self) -> Sequence[Offered]:
        """The listed models."""
        return [
            Offered(one.name, downloaded(one) is not None, f"{one.gigabytes:g} GB, {one.licence}")
            for one in LISTED
        ]

    def download(self, name: str) -> str:
        """Fetch a listed model. Raises `ConfigError` for any other, `ModelError` where it fails."""
        if (model := listed(name)) is None:
            known = ", ".join(one.name for one in LISTED)
            message = f"there is no listed model {name!r}: choose one of {known}"
            raise ConfigError(message)
        return f"{model.file} of {model.repo}, licence {model.licence}: {download(model)}"


LOCAL: Final = LocalModels()


def local_model(
    name: str,
    *,
    take: LocalSettings | None = None,
    env: Mapping[str, str] | None = None,
    **settings: Unpack[HttpSettings],
) -> LocalModel:
    """The model in the GGUF file `name`, run in this process by llama.cpp.

    Args:
        name: The file's path; or the name of a listed model, once it was downloaded.
        take: What it may take of this machine, and whether replies are held to the agent's format;
            by default what the variables `CLEW_LOCAL_CONTEXT`, `CLEW_LOCAL_SLOTS`,
            `CLEW_LOCAL_THREADS` and `CLEW_LOCAL_GRAMMAR` say.
        env: The environment; by default that of this process.
        settings: Settings, retries … as of any model (`HttpSettings`).

    Raises `ConfigError` where there is no such file, or it is none of a model.
    """
    if not name:
        message = "'local:' names no file: write local:PATH.gguf, or local:NAME"
        raise ConfigError(message)
    check_options(f"local:{name}", settings)
    values = settings_from(os.environ if env is None else env, take)
    return LocalModel(name, weights_of(path_of(name), values), settings)
