"""A replay opens neither a model nor a file that its record names."""

import os
from functools import partial
from pathlib import Path

import pytest

from clew import ConfigError, MemoryStore, ModelError, with_parser
from clew.agent.reply_parser import WithParser
from clew.agent.runner import start
from clew.agent_files import Spec, make_agent, origin, stand_ins
from clew.core.contents import Reply
from clew.core.journal import load
from clew.core.loop import run as go
from clew.core.models import ModelInfo, OnText
from clew.core.prompts import Part, Prompt
from clew.core.replay import replay
from clew.core.trajectory import Trajectory
from clew.testing.models import ScriptedModel, act, finish

pytestmark = pytest.mark.parametrize("anyio_backend", ["asyncio"])


class Named:
    """A model with the name of another."""

    def __init__(self, name: str) -> None:
        self.info = ModelInfo(name)

    async def complete(self, prompt: Prompt, on_text: OnText | None = None) -> Reply:
        raise ModelError("nobody asks it")


def scripted() -> ScriptedModel:
    return ScriptedModel([act("calc", expression="1 + 1"), finish("2")])


async def recorded(spec: Spec, parser: str) -> tuple[Trajectory, bytes | None]:
    """A record that names another model as its parser."""
    store = MemoryStore()
    agent = make_agent(spec.replace({"parser": "", "file": ""}), model=scripted())
    if parser:
        agent = with_parser(agent, Named(parser))
    said = origin(spec.replace({"parser": parser}))
    await go(agent.engine, await start(agent, "Go.", store, run_id="r", origin=said))
    record = await load(store, "r")
    blob = record.started.spec.prompt_blob
    return record, await store.blob(blob) if blob else None


NAMES = [
    "nobody:knows", "openai:gpt-4.1", "anthropic:claude-x", "google:gemini-x", "mistral:small",
    "local:missing.gguf", "local:/dev/null", "local:fifo.gguf", "azure:x", "", "no name at all",
]  # fmt: skip


@pytest.mark.parametrize("parser", NAMES)
async def test_a_parser_is_not_opened(
    parser: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    os.mkfifo("fifo.gguf")
    spec = Spec(model="offline", tools=("calc",), parser=parser)
    record, prompt_spec = await recorded(spec, parser)
    agent, apart = stand_ins(spec, record, prompt_spec, partial(make_agent, model=scripted()))
    await replay(agent.engine, record, MemoryStore(), apart)
    if parser:
        model = agent.engine.model
        assert isinstance(model, WithParser)
        with pytest.raises(ModelError, match="only replayed"):
            await model.parser.complete(Prompt((Part("user", "Well?"),), ()))


async def test_a_parser_that_a_person_names_now_is_theirs(tmp_path: Path) -> None:
    spec = Spec(model="offline", tools=("calc",), parser="nobody:knows")
    record, prompt_spec = await recorded(spec, "openai:gpt-4.1")
    with pytest.raises(ConfigError, match="nobody"):
        stand_ins(spec, record, prompt_spec, partial(make_agent, model=scripted()))


async def test_a_file_is_not_read_to_say_where_an_error_is(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "agent.toml")
    spec = Spec(model="offline", tools=("calc",), file=str(tmp_path / "agent.toml"))
    record, prompt_spec = await recorded(spec, "")
    wrong = spec.replace({"codec": "no-such-format"})
    with pytest.raises(ConfigError, match="no-such-format"):
        stand_ins(wrong, record, prompt_spec, partial(make_agent, model=scripted()))
