"""What a person is told of a server's tools: by the log, or where nobody listens to it, by Python.

clew's logger shows nothing by itself: a program that did not set up logging would learn nothing.
"""

import logging
import warnings
from typing import Final

LOG: Final = logging.getLogger("clew")


def tell(line: str) -> None:
    """Warn of something, where it is seen."""
    if _is_heard():
        LOG.warning("%s", line)
    else:
        warnings.warn(line, stacklevel=3)


def _is_heard() -> bool:
    """Whether a handler takes what is logged."""
    logger: logging.Logger | None = LOG
    while logger is not None:
        if any(not isinstance(each, logging.NullHandler) for each in logger.handlers):
            return True
        logger = logger.parent if logger.propagate else None
    return False
