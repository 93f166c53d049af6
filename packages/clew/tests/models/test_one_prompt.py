"""A server gets one prompt, by whichever name of a provider it is called."""

from itertools import groupby
from typing import Any

import pytest

from clew import Agent, ConfigError, MemoryStore, ModelSettings, run, tool
from clew.models.resolve import resolve
from clew_testing.servers.openai_server import OpenAIServer, Say


@tool(effect="read")
def page(number: int) -> str:
    """Read a page."""
    return f"{number}: " + "Nothing of the kind. " * 500


@pytest.mark.parametrize("codec", ["native", "labelled", "json"])
@pytest.mark.parametrize("other", ["llamacpp", "ollama", "vllm", "lmstudio"])
async def test_the_same_server_gets_the_same_prompt(codec: str, other: str) -> None:
    sent: list[Any] = []
    for provider in ("openai", other):
        said = [
            Say("", calls=[("page", '{"number": 1}')]) if codec == "native" else _TEXT[codec],
            Say("It is clew." if codec == "native" else _LAST[codec]),
        ]
        with OpenAIServer(said) as server:
            env = {f"{provider.upper()}_BASE_URL": server.base_url, "OPENAI_API_KEY": "k"}
            model: Any = resolve(f"{provider}:qwen2.5-coder-1.5b-instruct", env=env)
            agent = Agent(model=model, tools=[page], codec=codec)
            result = await run(agent, "What is it?", store=MemoryStore())
            await model.close()
            assert result.answer == "It is clew."
        prompts = [(it.body["messages"], it.body.get("tools")) for it in server.requests]
        sent.append([it for it, _ in groupby(prompts)])  # a form that is refused is left out
    assert sent[0] == sent[1]
    assert len(sent[0]) == 2


_TEXT = {
    "labelled": Say("Thought: I read.\nAction: page\nAction Input: 1"),
    "json": Say('{"thought": "I read.", "action": "page", "args": {"number": 1}}'),
}
_LAST = {
    "labelled": "Thought: Done.\nFinal Answer: It is clew.",
    "json": '{"thought": "Done.", "action": "finish", "args": {"answer": "It is clew."}}',
}


def test_the_choice_of_calls_is_no_parameter_and_it_is_said_what_is() -> None:
    with pytest.raises(ConfigError, match="tool_choice are written by the adapter") as caught:
        resolve(
            "openai:m",
            env={"OPENAI_API_KEY": "k"},
            settings=ModelSettings(extra={"tool_choice": "required"}),
        )
    assert "codec='json'" in str(caught.value)
