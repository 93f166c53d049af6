"""Files that go with a question: what they are, by their own bytes."""

from pathlib import Path

import pytest

from clew import Audio, ConfigError, File, Image
from clew.toolbox import attach

KINDS = {
    "sound.wav": (b"RIFF\x10\0\0\0WAVEfmt ", Audio, "audio/wav"),
    "frames.mp3": (b"\xff\xfb\x90\x44" + bytes(20), Audio, "audio/mpeg"),
    "tagged.mp3": (b"ID3\x04" + bytes(20), Audio, "audio/mpeg"),
    "shot.webp": (b"RIFF\x10\0\0\0WEBPVP8 ", Image, "image/webp"),
    "note.pdf": (b"%PDF-1.7 and nothing that can be read", File, "application/pdf"),
    "note.txt": (b"two\nlines", File, "text/plain"),
}


@pytest.mark.parametrize("name", KINDS)
def test_a_file_is_what_its_bytes_say(name: str, tmp_path: Path) -> None:
    data, kind, media_type = KINDS[name]
    (tmp_path / name).write_bytes(data)
    attached = attach(tmp_path / name)
    assert (type(attached), attached.media_type) == (kind, media_type)
    assert getattr(attached, "text", "") == ("two\nlines" if name == "note.txt" else "")


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"RIFF\x10\0\0\0AVI LIST" + bytes(60), "is none of these"),
        (b"x" * 1_000_001, "characters, and may have"),
        (b"", "is empty"),
    ],
    ids=["a film", "a long text", "nothing"],
)
def test_another_file_is_refused_in_a_line(data: bytes, told: str, tmp_path: Path) -> None:
    (tmp_path / "file.bin").write_bytes(data)
    with pytest.raises(ConfigError, match=told) as refused:
        attach(tmp_path / "file.bin")
    assert "\n" not in str(refused.value)
