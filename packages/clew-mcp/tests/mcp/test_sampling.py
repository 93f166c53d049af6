"""What a server may ask of the agent's model."""

import json
from pathlib import Path
from typing import Any

import pytest

from clew import Agent, Limits, MemoryStore, ModelError, read, run
from clew.interfaces import ModelInfo, OnText, Prompt, Reply
from clew.testing.models import ScriptedModel, act, finish, say
from clew_mcp import mcp_tools
from tests.mcp.servers import plain_server

pytestmark = pytest.mark.anyio


class Failing:
    """A model whose provider is down."""

    info = ModelInfo("scripted:down")

    async def complete(self, prompt: Prompt, on_text: OnText | None = None) -> Reply:
        del prompt, on_text
        raise ModelError("the provider is down")


async def asked(
    folder: Path, model: Any, limits: Limits | None = None, sampling: int = 500, **args: Any
) -> Any:
    """What the server got for its question."""
    plain = plain_server(folder / "plain")
    tools = await mcp_tools(plain.server(sampling=sampling), pins=plain.pins, model=model)
    agent = Agent(ScriptedModel([act("plain_think", **args), finish("done")]), tools=tools)
    agent = agent.replace(limits=limits) if limits else agent
    store = MemoryStore()
    run_id = (await run(agent, "go", store=store)).run_id
    seen = (await read(run_id, store=store)).call("1.1").observation
    assert seen is not None
    return json.loads(seen.text)


async def test_the_model_gets_the_servers_words_alone(tmp_path: Path) -> None:
    prompts: list[Prompt] = []

    def answer(prompt: Prompt) -> Any:
        prompts.append(prompt)
        return say("fine")

    answered = await asked(tmp_path, ScriptedModel([answer]))
    assert answered["content"]["text"] == "fine"
    assert [(part.role, part.text) for part in prompts[0]] == [
        ("system", "be brief"), ("user", "how are you?"),
    ]  # fmt: skip
    assert (prompts[0].tools, prompts[0].calls) == ((), "none")


@pytest.mark.parametrize(
    ("args", "why"),
    [
        ({"tokens": 501}, "tokens are asked for, and 500 are left"),
        ({"text": "picture"}, "only texts can be put to this model, and no tools"),
        ({"text": "tools"}, "only texts can be put to this model, and no tools"),
    ],
)
async def test_what_is_too_much_is_refused(tmp_path: Path, args: Any, why: str) -> None:
    refused = await asked(tmp_path, ScriptedModel([say("fine")]), **args)
    assert refused["message"].startswith("sampling is refused: ")
    assert why in refused["message"]


async def test_the_limit_of_the_run_holds_too(tmp_path: Path) -> None:
    limits = Limits(tokens=20_000)
    model = ScriptedModel([say("fine")])
    refused = await asked(tmp_path, model, limits, sampling=100_000, tokens=50_000)
    assert "about 50005 tokens are asked for, and 1" in refused["message"]


async def test_without_a_model_and_with_a_failing_one_it_is_refused(tmp_path: Path) -> None:
    assert "there is no model" in (await asked(tmp_path, None))["message"]
    (tmp_path / "b").mkdir()
    assert (await asked(tmp_path / "b", Failing()))["message"] == "the provider is down"
