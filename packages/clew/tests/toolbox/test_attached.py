"""Files that go with a question: what they are, by their own bytes."""

import os
from pathlib import Path
from typing import Any

import pytest

from clew import Agent, Audio, ConfigError, File, Image, MemoryStore, list_runs, read, run
from clew.testing.models import ScriptedModel, say
from clew.toolbox import attach

pytestmark = pytest.mark.anyio

PICTURE = Image("image/png", b"\x89PNG\r\n\x1a\n")

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


def test_what_is_no_file_is_not_read(tmp_path: Path) -> None:
    """A pipe or a device would be read for ever."""
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "pipe", Path("/dev/zero")):
        with pytest.raises(ConfigError, match="is no file: attach one"):
            attach(path)


@pytest.mark.parametrize("name", ["../letter.txt", "out.txt", "loop.txt"])
def test_nothing_outside_of_the_folder_is_attached(name: str, tmp_path: Path) -> None:
    (folder := tmp_path / "cases").mkdir()
    (tmp_path / "letter.txt").write_text("secret")
    (folder / "out.txt").symlink_to(tmp_path / "letter.txt")
    (folder / "loop.txt").symlink_to(folder / "loop.txt")
    with pytest.raises(ConfigError, match=r"is not in the folder|cannot be attached") as refused:
        attach(name, folder=folder)
    assert "\n" not in str(refused.value)
    with pytest.raises(ConfigError, match="is not in the folder"):
        attach(tmp_path / "letter.txt", folder=folder)


def test_a_link_within_the_folder_is_followed(tmp_path: Path) -> None:
    (tmp_path / "note.txt").write_text("noon")
    (tmp_path / "link.txt").symlink_to("note.txt")
    assert attach("link.txt", folder=tmp_path) == File("text/plain", text="noon", name="link.txt")


async def test_a_file_that_is_gone_after_it_was_attached_is_still_asked_about(
    tmp_path: Path,
) -> None:
    (file := tmp_path / "a.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    picture = attach(file)
    file.unlink()
    store = MemoryStore()
    await run(Agent(ScriptedModel([say("Seen.")])), ["What?", picture], store=store, run_id="r")
    (kept,) = (await read("r", store=store)).started.attachments
    assert kept.data == b"\x89PNG\r\n\x1a\n"


@pytest.mark.parametrize(
    ("question", "title"),
    [
        ([PICTURE, "What is it?\nSay."], "What is it?"),
        ([PICTURE, File("text/plain", text="a", name="a.txt")], "image/png, a.txt"),
        (["  ", PICTURE, "Which?"], "Which?"),
    ],
)
async def test_a_run_is_called_by_its_words(question: list[Any], title: str) -> None:
    store = MemoryStore()
    await run(Agent(ScriptedModel([say("Seen.")])), question, store=store)
    assert [each.title for each in await list_runs(store=store)] == [title]
