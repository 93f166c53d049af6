"""Questions and messages with pictures: shown to the model, kept once, gone on with, bounded."""

from pathlib import Path
from typing import Any

import pytest

from clew import (
    Agent,
    ConfigError,
    Image,
    MemoryStore,
    Verdict,
    fork,
    open_store,
    pending_approvals,
    read,
    read_image,
    replay,
    resume,
    run,
    tool,
)
from clew.core.interfaces import OnText, Part, Prompt
from clew.retention.verify import verify
from clew.testing.models import ScriptedModel, act, say

pytestmark = pytest.mark.anyio

PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(64))
JPEG = b"\xff\xd8\xff\xe0" + bytes(64)
MAP = Image("image/png", PNG, "a map")
A_PICTURE = "a picture of the question"
SAID = f"{A_PICTURE} is said to be"
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
            (part.role, part.text, [image.data for image in part.images])
            for part in self.prompts[at]
            if part.images
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
        assert record.started.images[0].data == PNG
        assert (await replay(agent, run_id, store=store)).trajectory.entries == record.entries
    lines = await store.read("r")
    assert sum(record.started.images[0].blob.encode() in line.body for line in lines) == 2
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
    asked: list[str | Image] = ["What does it say?", MAP]
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
        (["Which?", 5], "the question has a part of the type int: give texts and images"),
        ([Image("image/png")], "the question has a picture without bytes: give its data"),
        (
            [Image("image/png", JPEG)],
            f"{SAID} image/png, and is image/jpeg",
        ),
        (
            [Image("image/png", b"%PDF")],
            f"{SAID} image/png, and is none that is known: give PNG, JPEG, GIF or WebP",
        ),
        (
            [Image("image/png", PNG + bytes(20_000_000))],
            f"{A_PICTURE} has 20,000,072 bytes, and may have 20,000,000: make it smaller",
        ),
        (["half \ud83d"], "the question is a text with half a character: give a text"),
        (
            MAP,
            "the question is a value of the type Image: give a text, or a list of texts and images",
        ),
    ],
)
async def test_what_is_no_question_is_refused_in_one_line(question: Any, why: str) -> None:
    agent, store = Agent(model=ScriptedModel([say("No.")])), MemoryStore()
    with pytest.raises(ConfigError) as told:
        await run(agent, question, store=store)
    assert str(told.value) == why
    assert await store.runs() == []


def test_a_picture_is_read_from_its_file(tmp_path: Path) -> None:
    (file := tmp_path / "a.bin").write_bytes(PNG)
    assert read_image(file, "a map") == Image("image/png", PNG, "a map")
    file.write_bytes(b"RIFF\x00\x00\x00\x00WEBPVP8 ")
    assert read_image(file).media_type == "image/webp"
    file.write_bytes(b"words")
    with pytest.raises(ConfigError, match=r"a\.bin is no picture: attach PNG, JPEG, GIF or WebP$"):
        read_image(file)
    with file.open("wb") as large:
        large.truncate(2_000_000_000)
    with pytest.raises(ConfigError, match=r"a\.bin has 2,000,000,000 bytes, and may have 20,000,"):
        read_image(file)
    with pytest.raises(ConfigError, match=r"is no file: attach a picture$"):
        read_image(tmp_path)
    with pytest.raises(ConfigError, match=r"nowhere cannot be attached: No such file"):
        read_image(tmp_path / "nowhere")
