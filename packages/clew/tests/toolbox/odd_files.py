"""Files that cannot go with a question, by a word for what is wrong with them."""

import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

SIZE = 2_000_000_000


def _large(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(SIZE)


def _socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        here = Path.cwd()
        os.chdir(path.parent)  # the name of a socket may have about a hundred letters
        try:
            made.bind(path.name)
        finally:
            os.chdir(here)


def _locked(path: Path) -> None:
    path.write_bytes(b"\x89PNG\r\n\x1a\n")
    path.chmod(0)


MAKERS: dict[str, Callable[[Path], object]] = {
    "large": _large,
    "folder": Path.mkdir,
    "fifo": os.mkfifo,
    "socket": _socket,
    "device": lambda path: path.symlink_to("/dev/zero"),
    "loop": lambda path: path.symlink_to(path),
    "empty": Path.touch,
    "bytes": lambda path: path.write_bytes(bytes(range(256))),
    "film": lambda path: path.write_bytes(b"RIFF\x10\0\0\0AVI LIST" + bytes(60)),
    "letter": lambda path: path.write_bytes(b"x" * 1_000_001),
    "broken": lambda path: path.symlink_to("/proc/self/mem"),  # nobody can read its first byte
    "gone": lambda path: None,
    "locked": _locked,
}

WHY = {
    "large": f"has {SIZE:,} bytes, and may have 20,000,000: make it smaller",
    "folder": "is no file: attach one",
    "fifo": "is no file: attach one",
    "socket": "is no file: attach one",
    "device": "is no file: attach one",
    "loop": "cannot be attached: Too many levels of symbolic links",
    "empty": "is empty: attach another file",
    "bytes": "is none of these: PNG, JPEG, GIF, WebP, WAV, MP3, Ogg, FLAC, PDF, text",
    "film": "is none of these: PNG",
    "letter": "has 1,000,001 characters, and may have 100,000: have it searched (--docs",
    "broken": "cannot be attached: Input/output error",
    "gone": "cannot be attached: No such file or directory",
    "locked": "cannot be attached: Permission denied",
}

ROOT = pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
ODD = [pytest.param(it, marks=ROOT if it == "locked" else ()) for it in MAKERS]


def make(what: str, folder: Path) -> Path:
    """Such a file, by a name that says nothing of it."""
    MAKERS[what](path := folder / f"{what}.png")
    return path
