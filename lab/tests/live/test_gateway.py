"""What other systems talk to: the tools as they are in a run of clew, and the model behind it."""

import json
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import anyio.from_thread
import pytest

from clew import Trajectory, tool
from clew.interfaces import Check
from clew.toolbox import calc
from clew_testing.servers import Fail, OpenAIServer, Say
from clew_web import paper_tools
from live.others.gateway import Gateway

PAGES = {"Loch Ness": "Loch Ness is a lake. Its monster is old. The monster is shy."}


@tool(effect="read")
def order(number: int) -> str:
    """Look up an order.

    Args:
        number: Its number.
    """
    raise ValueError(f"there is no order {number} — at all\nin the book")


@contextmanager
def opened(
    address: str, *, raises: bool = False, checks: Sequence[Check] = ()
) -> Iterator[Gateway]:
    """A gateway that serves one question."""
    with anyio.from_thread.start_blocking_portal() as portal:
        gateway = Gateway(address, "key", portal, raises=raises)
        gateway.begin((*paper_tools(PAGES), calc(), order), checks)
        try:
            yield gateway
        finally:
            gateway.close()


def post(address: str, **body: Any) -> str:
    """What the gateway says."""
    request = urllib.request.Request(address, json.dumps(body).encode(), method="POST")
    with urllib.request.urlopen(request) as response:
        return str(response.read().decode())


def test_a_lookup_goes_on_in_the_article_that_was_searched_last() -> None:
    with opened("http://127.0.0.1:9") as gateway:
        at = f"{gateway.address}/tool"
        assert "Loch Ness is a lake" in post(at, tool="search", args={"entity": "Loch Ness"})
        first = post(at, tool="lookup", args={"word": "monster"})
        second = post(at, tool="lookup", args={"word": "monster"})
        assert "is old" in first
        assert "is shy" in second
        assert "no more sentences" in post(at, tool="lookup", args={"word": "monster"})
        assert gateway.spent.calls == {"search": 1, "lookup": 3}


def test_what_is_wrong_with_a_call_is_told_and_nothing_is_called() -> None:
    with opened("http://127.0.0.1:9") as gateway:
        at = f"{gateway.address}/tool"
        assert "there is no tool fly" in post(at, tool="fly", args={})
        assert "query" in post(at, tool="search", args={"query": "Loch Ness"})
        assert "division by zero" in post(at, tool="calc", args={"expression": "1 / 0"})
        assert "there is no order 3" in post(at, tool="order", args={"number": 3})
        calls = {"calc": 1, "order": 1}
        assert (gateway.spent.calls, gateway.spent.refused) == (calls, {"search": 1})


@pytest.mark.parametrize(
    ("name", "args", "why"),
    [
        ("fly", {}, "there is no tool fly"),
        ("search", {"query": "Loch Ness"}, "query"),
        ("calc", {"expression": "1 / 0"}, "division by zero"),
        ("order", {"number": 3}, "there is no order 3 ? at all in the book"),
    ],
)
def test_to_programs_a_call_that_fails_raises_with_its_reason(
    name: str, args: dict[str, Any], why: str
) -> None:
    with opened("http://127.0.0.1:9", raises=True) as gateway:
        at = f"{gateway.address}/tool"
        with pytest.raises(urllib.error.HTTPError, match=why.replace("?", r"\?")):
            post(at, tool=name, args=args)
        assert "Loch Ness is a lake" in post(at, tool="search", args={"entity": "Loch Ness"})


async def long_enough(answer: str, _: Trajectory) -> str | None:
    return "say more" if len(answer) < 3 else None


def named(answer: str, _: Trajectory) -> str | None:
    return None if "Ness" in answer else "name it"


def test_what_checks_object_to_is_told() -> None:
    with opened("http://127.0.0.1:9", checks=[long_enough, named]) as gateway:
        at = f"{gateway.address}/check"
        responses = [post(at, answer=answer) for answer in ("It", "It is old", "Ness")]
        assert responses == ["say more; name it", "name it", ""]
    with opened("http://127.0.0.1:9") as gateway:
        assert not post(f"{gateway.address}/check", answer=1)


def test_replies_of_the_model_pass_through_and_are_counted() -> None:
    with OpenAIServer([Say("It is old."), Fail(500)]) as server, opened(server.base_url) as gateway:
        ask = f"{gateway.address}/v1/chat/completions"
        asked = {"model": "any", "messages": [{"role": "user", "content": "How old?"}]}
        reply = json.loads(post(ask, **asked))
        assert reply["choices"][0]["message"]["content"] == "It is old."
        status, _ = gateway.complete("/v1/chat/completions", json.dumps(asked).encode())
        assert status == 500
        spent = gateway.spent
        assert (spent.steps, spent.errors) == (2, {"HTTP 500": 1})
        assert spent.usage.output == reply["usage"]["completion_tokens"] > 0
