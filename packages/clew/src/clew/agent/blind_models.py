"""What an agent is warned of whose model is not shown what a tool returns."""

from collections.abc import Iterator
from typing import Final

from clew.core.contents import Audio, Image
from clew.core.models import ModelInfo
from clew.core.tools import AnyTool

_KINDS: Final = ((Image, "pictures", "image/"), (Audio, "recordings", "audio/"))


def unseen_attachments(info: ModelInfo, tool: AnyTool) -> Iterator[str]:
    """A warning for each kind that a tool is declared to return and the model lacks.

    A model that takes some kinds of pictures takes pictures; files bring their text.
    """
    attaches = getattr(tool, "attaches", ())
    for kind, many, beginning in _KINDS:
        taken = any(it.startswith(beginning) or beginning.startswith(it) for it in info.takes)
        if kind in attaches and not taken:
            yield (
                f"{info.name} takes no {many}, and {tool.name} returns some: it reads their words "
                f"alone ({kind.__name__}(…, text=…)); another model is shown them"
            )
