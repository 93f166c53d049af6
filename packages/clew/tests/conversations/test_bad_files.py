"""Files that cannot go with a question: one line each, and none of them is read or awaited."""

import os
from pathlib import Path

import pytest

from clew import ConfigError, Image
from clew.toolbox import attach

PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(16))


def make(path: Path) -> None:
    """What is no file to attach, by its name."""
    match path.stem:
        case "large":
            with path.open("wb") as file:
                file.truncate(2_000_000_000)
        case "folder":
            path.mkdir()
        case "fifo":
            os.mkfifo(path)
        case "empty":
            path.touch()
        case "loop":
            path.symlink_to(path)
        case _:
            path.write_bytes(bytes(range(256)))


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("large.png", "has 2,000,000,000 bytes, and may have 20,000,000: make it smaller"),
        ("folder.png", "is no file: attach one"),
        ("fifo.png", "is no file: attach one"),
        ("empty.png", "is empty: attach another file"),
        ("loop.png", "cannot be attached: "),
        ("lies.png", "is none of these: PNG, JPEG"),
    ],
)
def test_what_is_no_file_is_told_in_one_line(tmp_path: Path, name: str, why: str) -> None:
    make(path := tmp_path / name)
    with pytest.raises(ConfigError) as caught:
        attach(path)
    assert why in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_file_is_what_its_bytes_say_whatever_its_name(tmp_path: Path) -> None:
    path = tmp_path / "picture.pdf"
    path.write_bytes(PNG)
    assert attach(path) == Image("image/png", PNG)
