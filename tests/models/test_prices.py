"""What tokens cost, and what nobody knows."""

from typing import Any

import pytest

from clew.errors import ConfigError
from clew.events import Usage
from clew.models.prices import COLLECTED, FREE, TABLE, Price, price


@pytest.mark.parametrize(
    ("provider", "model", "expected"),
    [
        ("openai", "gpt-4o", Price(2.5, 10.0, 1.25)),
        ("openai", "gpt-4o-2024-08-06", Price(2.5, 10.0, 1.25)),
        ("openai", "gpt-4o-2024-05-13", Price(5.0, 15.0)),
        ("openai", "gpt-4o-mini-2024-07-18", Price(0.15, 0.6, 0.075)),
        ("openai", "gpt-4-0613", Price(30.0, 60.0)),
        ("openai", "gpt-4o-audio-preview", None),
        ("openai", "gpt-4o-mini-transcribe", None),
        ("openai", "gpt-nobody-knows", None),
        ("acme", "gpt-4o", None),
        ("anthropic", "claude-haiku-4-5-20251001", Price(1.0, 5.0, 0.1, written=1.25)),
        ("anthropic", "claude-3-opus-20240229", None),
        ("ollama", "llama3.2:3b", FREE),
        ("vllm", "gpt-4o", FREE),
    ],
)
def test_a_price_is_that_of_the_model_or_none(
    provider: str, model: str, expected: Price | None
) -> None:
    assert price(provider, model) == expected


@pytest.mark.parametrize("wrong", [-1.0, float("nan"), float("inf")])
@pytest.mark.parametrize("which", ["input", "output", "cached", "written"])
def test_what_is_no_price_is_refused(which: str, wrong: float) -> None:
    numbers: dict[str, Any] = {"input": 1.0, "output": 1.0, which: wrong}
    with pytest.raises(ConfigError, match="give US dollars per million tokens"):
        Price(**numbers)


def test_ones_own_prices_come_first() -> None:
    own = {"gpt-4o": Price(1.0, 2.0), "house-model": Price(3.0, 4.0)}
    assert price("openai", "gpt-4o-2024-08-06", own) == Price(1.0, 2.0)
    assert price("ollama", "house-model", own) == Price(3.0, 4.0)
    assert price("openai", "gpt-4.1", own) == TABLE["openai"]["gpt-4.1"]


@pytest.mark.parametrize(
    ("tariff", "usage", "dollars"),
    [
        (Price(2.0, 8.0, 0.5), Usage(1_000_000, 100_000, 400_000), 1.2 + 0.2 + 0.8),
        (Price(2.0, 8.0), Usage(1_000_000, 0, 400_000), 2.0),
        (Price(2.0, 8.0, 0.5, 272_000), Usage(272_000, 1_000), 0.544 + 0.008),
        (Price(2.0, 8.0, 0.5, 272_000), Usage(300_000, 1_000, 100_000), 0.8 + 0.1 + 0.012),
        (Price(2.0, 8.0, 0.5, written=2.5), Usage(1_000_000, 0, 400_000, written=600_000), 1.7),
        (Price(2.0, 8.0), Usage(1_000_000, 0, 0, written=600_000), 2.0),
        (TABLE["anthropic"]["claude-haiku-5-5"], Usage(100_000, 1_000), 0.01 + 0.0005),
        (TABLE["anthropic"]["claude-haiku-5-5"], Usage(200_000, 1_000), 0.1 + 0.0025),
        (FREE, Usage(1_000_000, 1_000_000), 0.0),
    ],
)
def test_costs_by_hand(tariff: Price, usage: Usage, dollars: float) -> None:
    assert tariff.cost(usage) == pytest.approx(dollars)


def test_the_table_says_when_it_was_read() -> None:
    assert COLLECTED == "2026-11-05"
    assert all(
        0 < tariff.input <= tariff.output and (tariff.cached or 0) <= tariff.input
        for table in TABLE.values()
        for tariff in table.values()
    )


def test_other_formats_of_a_provider_cost_the_same() -> None:
    assert price("openai-responses", "gpt-5.1") == price("openai", "gpt-5.1")
    assert price("ollama-completions", "any") == FREE
    assert price("openrouter-responses", "any") is None
