"""Recorded exchanges against the adapters: on our own, and on a sample of the recordings."""

from typing import Any

import pytest

from clew.core.contents import RawCall, Reply, Usage
from recordings import wire
from recordings.data import VARIABLE, folder, missing
from recordings.wire_exchanges import Exchange, exchanges
from recordings.wire_rules import complaint
from tests.recordings import exchanged as own

HERE, WHY_NOT = folder(), missing()
"""Where the recordings lie, taken before a test loses the variables of its environment."""


@pytest.mark.slow
def test_every_kind_of_exchange_is_read_as_its_body_says() -> None:
    part = wire.evidence(own.RIGHT, 3)
    assert part.met, part.misses
    assert not part.misses
    got = {each.what: each.got for each in part.figures}
    assert got["openai-chat, plain replies"] == "7"
    assert got["openai-chat, streams"] == "2"
    assert got["errors told in the provider's words"] == "2"
    assert got["streams recorded without their end"] == "1"
    assert got["openai-responses, plain replies"] == "4"
    assert got["openai-responses, streams"] == "2"
    assert got["anthropic, streams"] == "1"
    assert got["gemini, plain replies"] == "3"
    assert got["streams byte by byte"] == "6"


def test_what_is_left_out_is_told_with_its_reason() -> None:
    taken, out = exchanges([own.OUT])
    assert not taken
    assert out == {
        "embeddings": 1,
        "reading what a server stored: clew stores nothing there": 1,
        "counting tokens": 1,
        "no completion: somewhere.example.com": 1,
        "completions of which no answer was recorded": 1,
        "streams as an array, which clew does not ask for": 1,
    }


def first(name: str) -> Exchange:
    return exchanges([one for one in own.RIGHT if one["id"] == name])[0][0]


def test_a_reply_that_says_otherwise_than_the_body_is_found() -> None:
    right = Reply(
        calls=(RawCall(name="look", arguments='{"place": "Łódź"}', id="call_1"),),
        finish="calls",
        usage=Usage(input=20, output=9),
    )
    assert list(wire.differences(first("chat"), right)) == []
    wrong: list[dict[str, Any]] = [
        {"text": "x"},
        {"calls": ()},
        {"finish": "stop"},
        {"usage": Usage(input=20, output=9, estimated=True)},
    ]
    fields = {name: getattr(right, name) for name in right.__struct_fields__}
    for changed in wrong:
        told = list(wire.differences(first("chat"), Reply(**(fields | changed))))
        assert [line.partition(":")[0] for line in told] == list(changed)


@pytest.mark.parametrize(
    ("form", "body", "why"),
    [
        ("openai-chat", {"messages": [{"role": "tool", "content": "x"}]}, "rules: "),
        (
            "openai-responses",
            {"input": [own.SEARCHED | {"status": "failed"}]},
            "altered: web_search_call",
        ),
        (
            "anthropic",
            {
                "max_tokens": 9,
                "messages": [
                    {"role": "user", "content": "?"},
                    {"role": "assistant", "content": [own.FETCH]},
                ],
            },
            "altered: server_tool_use",
        ),
        (
            "gemini",
            {"contents": [{"role": "user", "parts": [{"text": "?", "thoughtSignature": "b3Ro"}]}]},
            "altered: a signature",
        ),
        (
            "openai-chat",
            {"messages": [{"role": "user", "content": "?"}], "seed": "one"},
            "types of the client: ",
        ),
    ],
)
def test_a_request_that_a_provider_would_refuse_is_found(
    form: str, body: dict[str, Any], why: str
) -> None:
    replies = [own.response(own.SEARCHED, own.message("Hi."))]
    assert complaint(form, "a-model", {"model": "a-model"} | body, replies).startswith(why)


@pytest.mark.skipif(bool(WHY_NOT), reason=WHY_NOT)
def test_a_sample_of_the_recordings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, str(HERE))
    part = wire.measure(19)
    assert part.met, part.misses
    assert len(part.figures) > 5
