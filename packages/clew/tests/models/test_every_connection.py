"""What holds of the connection to every provider."""

from typing import Any

import pytest

from clew_testing.servers.http_server import Say
from tests.models import gemini_support, support
from tests.models.support import ask, watcher

pytestmark = pytest.mark.parametrize(
    "over", [gemini_support.over, support.over], ids=["gemini", "openai"]
)

OK = Say("Ok.")


async def test_what_the_listener_raises_is_its_own(over: Any) -> None:
    def on_text(_: str) -> bool:
        raise ZeroDivisionError

    async with over([OK, OK]) as (model, _, _):
        with pytest.raises(ZeroDivisionError):
            await model.complete(ask(), on_text)
        assert (await model.complete(ask())).text == "Ok."


async def test_it_is_kept_from_step_to_step(over: Any) -> None:
    async with over(lambda _: OK) as (model, server, _):
        for streamed in (False, True, True, False):
            await model.complete(ask(), watcher(streamed=streamed))
        assert server.connections == 1
