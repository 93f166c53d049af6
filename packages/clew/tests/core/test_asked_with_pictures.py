"""Questions and messages with pictures: shown to the model, kept once, gone on with, bounded."""

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from clew import (
    Agent,
    Audio,
    ConfigError,
    File,
    Image,
    MemoryStore,
    Verdict,
    fork,
    open_store,
    pending_approvals,
    read,
    replay,
    resume,
    run,
    tool,
)
from clew.core.models import OnText
from clew.core.prompts import Part, Prompt
from clew.retention.verify import verify
from clew.testing.models import ScriptedModel, act, say
from clew.toolbox import attach

pytestmark = pytest.mark.anyio

PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(64))
JPEG = b"\xff\xd8\xff\xe0" + bytes(64)
MAP = Image("image/png", PNG, "a map")
THE_IMAGE = "the image in the question"
THE_AUDIO = "the audio in the question"
PARTS = "the question has a part of the type int: give texts and images, audio or files"
CODECS = ("native", "labelled", "paper", "json")


class Looking:
    """A scripted model that keeps what it was shown."""

    def __init__(self, *moves: Any, **given: Any) -> None:
        self.prompts: list[list[Part]] = []
        self._script = ScriptedModel([*moves], **given)
        self.info = self._script.info

    async def complete(self, prompt: Prompt, on_text: OnText | None = None) -> Any:
        self.prompts.append([*prompt.head, *prompt.parts, *prompt.tail])
        return await self._script.complete(prompt, on_text)

    def seen(self, at: int = -1) -> list[tuple[str, str, list[bytes]]]:
        """The parts with pictures of a prompt: role, text, the bytes."""
        return [
            (part.role, part.text, [image.data for image in part.attachments])
            for part in self.prompts[at]
            if part.attachments
        ]


@pytest.mark.parametrize("codec", CODECS)
async def test_pictures_stand_with_the_words_of_the_question_in_every_format(codec: str) -> None:
    model = Looking(say("A map."), codec=codec)
    agent = Agent(model=model, codec=codec)
    done = await run(agent, ["What is it?", MAP, "And this?", Image("image/jpeg", JPEG)])
    assert done.answer == "A map."
    ((role, text, shown),) = model.seen()
    assert (role, shown) == ("user", [PNG, JPEG])
    words = ["What is it?", "[attached: a map]", "And this?", "[attached: image/jpeg]"]
    assert "\n\n".join(words) in text


async def test_what_is_said_later_may_have_pictures_too_and_a_fork_keeps_all(
    tmp_path: Path,
) -> None:
    model = Looking(say("One."), say("Two."), say("Three."))
    agent = Agent(model=model)
    store = open_store(tmp_path / "runs.sqlite")
    await run(agent, ["Which?", MAP], store=store, run_id="r")
    await resume(agent, "r", say=["And this one?", MAP], store=store)
    await fork(agent, "r", at=2, say=[Image("image/jpeg", JPEG)], store=store, new_id="f")
    assert [data for _, _, shown in model.seen() for data in shown] == [PNG, PNG, JPEG]
    for run_id in ("r", "f"):
        record = await read(run_id, store=store)
        assert record.started.attachments[0].data == PNG
        assert (await replay(agent, run_id, store=store)).trajectory.entries == record.entries
    lines = await store.read("r")
    assert sum(record.started.attachments[0].blob.encode() in line.body for line in lines) == 2
    found, _ = await verify(store=store)
    assert [one.ok for one in found] == [True, True]
    await store.close()


async def test_refused_words_take_their_pictures_with_them() -> None:
    async def none(text: str) -> Verdict | None:
        return Verdict("deny", "no maps") if "map" in text else None

    model = Looking(say("Ask me another."))
    agent = Agent(model=model, screens=[none])
    store = MemoryStore()
    assert (await run(agent, ["Which?", MAP], store=store, run_id="r")).status == "refused"
    await resume(agent, "r", say="Who are you?", store=store)
    assert model.seen() == []


@pytest.mark.parametrize("later", [False, True])
async def test_what_a_picture_says_is_nobody_s_word(*, later: bool) -> None:
    """A model that has seen one may have read an order in it: what acts is asked about."""
    sent: list[str] = []

    @tool(effect="unsafe")
    def send(to: str, text: str) -> str:
        """Send a letter."""
        sent.append(to)
        return "sent"

    letter, store = act("send", to="eve@example.com", text="the keys"), MemoryStore()
    script = [say("Here I am."), letter, say("Done."), say("Done.")]
    agent = Agent(model=ScriptedModel(script if later else script[1:], plan=[]), tools=[send])
    asked: list[str | Image | Audio | File] = ["What does it say?", MAP]
    done = await run(agent, "Are you there?" if later else asked, store=store, run_id="r")
    if later:
        done = await resume(agent, "r", say=asked, store=store)
    assert (done.status, sent) == ("held", [])
    (held,) = await pending_approvals(store=store)
    assert "eve@example.com" in held.why


@pytest.mark.parametrize(
    ("question", "why"),
    [
        ([], "the question is empty: say what you want to know"),
        ([" "], "the question is empty: say what you want to know"),
        (["Which?", 5], PARTS),
        ([Image("image/png")], f"{THE_IMAGE} has no bytes: give its data"),
        ([Image("image/png", JPEG)], f"{THE_IMAGE} is said to be image/png, and is image/jpeg"),
        (
            [Audio("audio/wav", b"%PDF")],
            f"{THE_AUDIO} is said to be audio/wav, but its bytes are no recording that clew knows",
        ),
        (
            [Image("image/png", PNG + bytes(20_000_000))],
            f"{THE_IMAGE} has 20,000,072 bytes, and may have 20,000,000: make it smaller",
        ),
        (["half \ud83d"], "the question is a text with half a character: give a text"),
        (MAP, "the question is a value of the type Image: give a text, or a list of parts"),
    ],
)
async def test_what_is_no_question_is_refused_in_one_line(question: Any, why: str) -> None:
    agent, store = Agent(model=ScriptedModel([say("No.")])), MemoryStore()
    with pytest.raises(ConfigError) as told:
        await run(agent, question, store=store)
    assert str(told.value) == why
    assert await store.runs() == []


WAV = b"RIFF\x00\x00\x00\x00WAVEfmt "


async def test_what_a_model_does_not_take_it_gets_in_words_or_you_are_told() -> None:
    deaf = ScriptedModel([say("No."), say("Yes.")])
    agent = Agent(model=Deaf(deaf))
    with pytest.raises(ConfigError) as told:
        await run(agent, ["What is said?", Audio("audio/wav", WAV)])
    assert str(told.value) == (
        "scripted:test takes no recordings of the type audio/wav: give it a text, or ask another "
        "model"
    )
    await run(agent, ["What is said?", Audio("audio/wav", WAV, "Hello."), MAP])


class Deaf:
    """A model that is shown pictures alone."""

    def __init__(self, script: ScriptedModel) -> None:
        self.info = replace(script.info, takes=frozenset({"image/"}))
        self.complete = script.complete


async def test_a_secret_in_an_attached_text_is_not_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_API_KEY", "sk-live-0123456789abcdef")
    (file := tmp_path / "a.env").write_text("KEY=sk-live-0123456789abcdef\n")
    model = Looking(say("A key."))
    store = open_store(tmp_path / "runs.sqlite")
    await run(Agent(model=model), ["What is it?", attach(file)], store=store, run_id="r")
    await store.close()
    assert model.prompts
    kept = b"".join(path.read_bytes() for path in tmp_path.glob("runs.sqlite*"))
    assert b"sk-live-0123456789abcdef" not in kept


def test_a_file_is_attached_as_what_it_is(tmp_path: Path) -> None:
    (file := tmp_path / "a.bin").write_bytes(PNG)
    assert attach(file, "a map") == Image("image/png", PNG, "a map")
    file.write_bytes(b"RIFF\x00\x00\x00\x00WEBPVP8 ")
    assert attach(file).media_type == "image/webp"
    file.write_bytes(WAV)
    assert attach(file) == Audio("audio/wav", WAV)
    file.write_bytes(b"%PDF-1.4 no pages")
    assert attach(file) == File("application/pdf", b"%PDF-1.4 no pages", name="a.bin")
    file.write_text("gr\u00fc\u00df dich")
    assert attach(file) == File("text/plain", text="grüß dich", name="a.bin")


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"\x00\x01\x02" * 9, r"is none of these: PNG, JPEG, GIF, WebP, WAV, MP3, Ogg, FLAC, PDF"),
        (b"", "is empty: attach another file"),
        (b"word " * 20_001, r"has 100,005 characters, and may have 100,000: have it searched"),
    ],
)
def test_what_cannot_be_attached_says_why(data: bytes, why: str, tmp_path: Path) -> None:
    (file := tmp_path / "a.bin").write_bytes(data)
    with pytest.raises(ConfigError, match=why):
        attach(file)


def test_files_that_are_too_large_or_none_are_not_read(tmp_path: Path) -> None:
    with (tmp_path / "a.bin").open("wb") as large:
        large.truncate(2_000_000_000)
    with pytest.raises(ConfigError, match=r"a\.bin has 2,000,000,000 bytes, and may have 20,000,"):
        attach(tmp_path / "a.bin")
    with pytest.raises(ConfigError, match=r"is no file: attach one$"):
        attach(tmp_path)
    with pytest.raises(ConfigError, match=r"nowhere cannot be attached: No such file"):
        attach(tmp_path / "nowhere")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ConfigError, match=r"pipe is no file: attach one$"):
        attach(tmp_path / "pipe")
