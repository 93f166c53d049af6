"""What `batch:provider:model` stands for: imported when somebody asks for it."""

import importlib
from typing import Any

from clew.core.models import Model
from clew.support.errors import ConfigError


def batched(name: str, **options: Any) -> Model:
    """A model of this name that is asked in batches (`clew.models.batches.Batched`).

    Raises `ConfigError`.
    """
    try:
        module = importlib.import_module("clew.models.batches")
    except ImportError as missing:
        raise ConfigError(f"batch:{name}: {missing}") from missing
    options.pop("rate", None)  # it is that of single requests, and batches have their own
    model: Model = module.Batched(name, **options)
    return model
