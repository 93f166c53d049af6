"""The agents as models."""

from typing import Literal

import msgspec

from clew_serve.endpoints import Inquiry


class Model(msgspec.Struct):
    """An agent; clients show its `id` to choose by."""

    id: str
    object: Literal["model"] = "model"
    created: int = 0
    owned_by: str = "clew"


class ModelList(msgspec.Struct):
    """All that are served."""

    data: list[Model]
    object: Literal["list"] = "list"


async def get_all(inquiry: Inquiry) -> ModelList:
    """The agents that are served."""
    return ModelList([Model(name) for name in inquiry.service.agents])
