"""A word on stderr while something takes long."""

import sys
import time

BEGUN = time.perf_counter()


def tell(text: str) -> None:
    """Say how far it is, with the seconds since the program began; a terminal keeps one line."""
    line = f"{time.perf_counter() - BEGUN:5.0f} s  {text}"
    end = "\r" if sys.stderr.isatty() else "\n"
    sys.stderr.write(f"{line:<78}{end}")
    sys.stderr.flush()
