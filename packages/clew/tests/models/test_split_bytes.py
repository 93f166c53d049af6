"""A stream cut anywhere, within a character too, is the same reply."""

import json
from functools import partial
from typing import Any, Final

import pytest

from clew.models.openai.responses import openai_responses
from clew_testing.servers.openai_server import Say
from tests.models import gemini_support, messages
from tests.models.support import listener, over

DOORS: Final[dict[str, Any]] = {
    "chat": over,
    "responses": partial(over, make=openai_responses),
    "anthropic": messages.over,
    "gemini": gemini_support.over,
}
TEXT: Final = "Größe 野家 😀 \U0001f468\u200d\U0001f469\u200d\U0001f467 e\u0301 \u2028 end"
SAID: Final = (
    Say(TEXT),
    Say(TEXT, calls=[("search", json.dumps({"query": TEXT}, ensure_ascii=False))]),
)

pytestmark = pytest.mark.parametrize("anyio_backend", ["asyncio"])


@pytest.mark.parametrize("size", [1, 2, 3, 5, 7])
@pytest.mark.parametrize("said", SAID, ids=["text", "call"])
@pytest.mark.parametrize("door", DOORS)
async def test_whatever_the_size_of_the_pieces_no_character_breaks(
    door: str, said: Say, size: int
) -> None:
    shown: list[str] = []
    async with DOORS[door]([said], piece=size) as (model, _, _):
        reply = await model.complete(messages.talk(), listener(shown))
    async with DOORS[door]([said]) as (model, _, _):
        whole = await model.complete(messages.talk(), listener([]))
    assert (reply.text, reply.mended) == (TEXT, ())
    assert "".join(shown) == TEXT
    assert (reply.calls, reply.finish) == (whole.calls, whole.finish)
    for call in reply.calls:
        assert json.loads(call.arguments or "") == {"query": TEXT}
