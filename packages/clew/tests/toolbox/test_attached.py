"""Files that go with a question: what they are, by their own bytes."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from clew import Agent, Audio, ConfigError, File, Image, MemoryStore, list_runs, read, run
from clew.testing.models import ScriptedModel, say
from clew.toolbox import attach
from tests.toolbox.odd_files import ODD, WHY, make
from tests.tools.test_docs import pdf

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


@pytest.mark.parametrize("what", ODD)
def test_what_cannot_be_attached_is_told_in_one_line(what: str, tmp_path: Path) -> None:
    """A pipe or a device would be read for ever."""
    path = make(what, tmp_path)
    with pytest.raises(ConfigError) as caught:
        attach(path)
    assert f"{path} {WHY[what]}" in str(caught.value)
    assert "\n" not in str(caught.value)


LIMITED = """
import pathlib, resource, sys
from clew import ConfigError
from clew.toolbox import attach
pages = int(pathlib.Path("/proc/self/statm").read_text().split()[0])
free = 100_000_000 + pages * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (free, free))
try:
    attach(sys.argv[1])
except ConfigError as error:
    print(error)
"""


def test_a_large_file_takes_no_memory(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, make("large", tmp_path)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert WHY["large"] in done.stdout, done.stderr


def test_a_file_is_what_its_bytes_say_whatever_its_name(tmp_path: Path) -> None:
    (path := tmp_path / "picture.pdf").write_bytes(PICTURE.data)
    assert attach(path) == PICTURE


WATCHED = """
import sys
from clew.toolbox import attach
opened = []
sys.addaudithook(lambda event, it: event == "open" and it[0] in sys.argv and opened.append(it[0]))
texts = [attach(name).text.strip() for name in sys.argv[1:]]
assert opened == sys.argv[1:], opened
print(*texts)
"""


def test_each_file_is_opened_once(tmp_path: Path) -> None:
    """It may be another a moment later."""
    data = {"a.txt": b"two", "b.pdf": pdf("due"), "c.txt": "größer".encode("latin-1")}
    for name, each in data.items():
        (tmp_path / name).write_bytes(each)
    done = subprocess.run(
        [sys.executable, "-X", "utf8", "-c", WATCHED, *map(str, map(tmp_path.joinpath, data))],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.stdout.split() == ["two", "page", "1", "due", "größer"], done.stderr


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
