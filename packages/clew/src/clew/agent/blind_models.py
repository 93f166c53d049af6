"""What is told when an agent is made whose model is not shown what a tool returns."""

import logging
from functools import lru_cache
from typing import Final

from clew.core.contents import Audio, Image
from clew.core.models import ModelInfo

LOG: Final = logging.getLogger("clew")

_KINDS: Final = ((Image, "pictures", "image/"), (Audio, "recordings", "audio/"))


def warn_of_blindness(info: ModelInfo, tool: str, attaches: tuple[type, ...]) -> None:
    """Log a warning, once, for each kind that a tool is declared to return and the model lacks.

    A model that takes some kinds of pictures takes pictures; files bring their text.
    """
    for kind, many, beginning in _KINDS:
        taken = any(it.startswith(beginning) or beginning.startswith(it) for it in info.takes)
        if kind in attaches and not taken:
            _warn(info.name, tool, many, kind.__name__)


@lru_cache(maxsize=1_000)  # once: agents are made anew for every change
def _warn(model: str, tool: str, many: str, kind: str) -> None:
    LOG.warning(
        "%s takes no %s, and %s returns some: it reads their words alone (%s(…, text=…)); "
        "another model is shown them",
        *(model, many, tool, kind),
    )
