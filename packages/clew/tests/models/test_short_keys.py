"""A key too short to be a secret does not blot out the words of an error."""

import pytest

from clew import Agent, MemoryStore, ModelError, run
from clew.models.openai.chat import openai_chat
from clew_testing.servers.openai_server import Fail, OpenAIServer
from tests.models.support import Waits

SAID = "the model is not available to anybody in this region"


@pytest.mark.parametrize("key", ["a", "e", "is", "the", "o", "at", "model", "t", "any", "none"])
async def test_a_short_key_leaves_the_words(key: str) -> None:
    assert SAID in await told(key, SAID)


@pytest.mark.parametrize("key", ["region", "sk-123", "sk-proj-abcdefgh"])
async def test_a_longer_one_is_left_out(key: str) -> None:
    words = await told(key, f"{SAID}: {key} is no good")
    assert key not in words
    assert "***" in words


async def told(key: str, said: str) -> str:
    """The error of a run whose server says this."""
    with OpenAIServer([Fail(400, said)]) as server:
        model = openai_chat("m", base_url=server.base_url, api_key=key, sleep=Waits())
        try:
            with pytest.raises(ModelError) as error:
                await run(Agent(model), "What?", store=MemoryStore())
        finally:
            await model.close()
    return str(error.value)
