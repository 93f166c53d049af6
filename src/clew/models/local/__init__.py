"""Models that run in this process, from a GGUF file: `local:PATH.gguf`."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Unpack

from clew.support.extras import missing_extra

try:
    from clew.models.local.gguf_header import GgufHeader, read_header
    from clew.models.local.model import LocalModel
    from clew.models.local.settings import LocalSettings, settings_from
    from clew.models.local.weights import weights_of
except ModuleNotFoundError as missing:
    raise missing_extra(missing, "local") from missing

from clew.core.errors import ConfigError
from clew.models.http.endpoint import Settings

__all__ = ["GgufHeader", "LocalModel", "LocalSettings", "local_model", "read_header"]


def local_model(
    name: str,
    *,
    take: LocalSettings | None = None,
    env: Mapping[str, str] | None = None,
    **settings: Unpack[Settings],
) -> LocalModel:
    """The model in the GGUF file `name`, run in this process by llama.cpp.

    Args:
        name: The file's path.
        take: What it may take of this machine, and whether replies are held to the agent's format;
            by default what the variables `CLEW_LOCAL_CONTEXT`, `CLEW_LOCAL_SLOTS`,
            `CLEW_LOCAL_THREADS` and `CLEW_LOCAL_GRAMMAR` say.
        env: The environment; by default that of this process.
        settings: Parameters, timeout … as of any model (`Settings`).

    Raises `ConfigError` where there is no such file, or it is none of a model.
    """
    if not name:
        message = "'local:' names no file: write local:PATH.gguf"
        raise ConfigError(message)
    said = settings_from(os.environ if env is None else env, take)
    return LocalModel(name, weights_of(Path(name).expanduser(), said), settings)
