"""What tokens cost, and what nobody knows."""

import subprocess
import sys
from typing import Any

import genai_prices
import pytest

from clew.core.contents import Usage
from clew.models.prices import FREE, Price, listed, price
from clew.support.errors import ConfigError


@pytest.mark.parametrize(
    ("provider", "model", "expected"),
    [
        ("openai", "gpt-4o", Price(2.5, 10.0, 1.25)),
        ("openai", "gpt-4o-2024-08-06", Price(2.5, 10.0, 1.25)),
        ("openai", "gpt-4o-2024-05-13", Price(5.0, 15.0)),
        ("openai", "gpt-4o-mini-2024-07-18", Price(0.15, 0.6, 0.075)),
        ("openai", "gpt-4-0613", Price(30.0, 60.0)),
        ("openai", "gpt-4o-audio-preview", Price(2.5, 10.0)),
        ("openai", "gpt-image-1", None),
        ("openai", "gpt-nobody-knows", None),
        ("openai", "o3-mini-high", None),
        (
            "openai",
            "gpt-6-luna",
            Price(0.1, 0.5, 0.01, 272_000, 0.125, Price(0.2, 0.75, 0.02, None, 0.25)),
        ),
        ("openai", "text-embedding-3-small", None),
        ("google", "gemini-2.5-pro-x", None),
        ("google", "claude-opus-5", None),
        ("deepseek", "deepseek-chat", None),
        ("openrouter", "openai/gpt-4o", None),
        ("azure", "gpt-4o", None),
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
    assert price("openai", "gpt-4.1", own) == listed("openai")["gpt-4.1"]


@pytest.mark.parametrize(
    ("tariff", "usage", "dollars"),
    [
        (Price(2.0, 8.0, 0.5), Usage(1_000_000, 100_000, 400_000), 1.2 + 0.2 + 0.8),
        (Price(2.0, 8.0), Usage(1_000_000, 0, 400_000), 2.0),
        (Price(2.0, 8.0, 0.5, 272_000), Usage(272_000, 1_000), 0.544 + 0.008),
        (Price(2.0, 8.0, 0.5, 272_000), Usage(300_000, 1_000, 100_000), 0.8 + 0.1 + 0.012),
        (Price(2.0, 8.0, 0.5, written=2.5), Usage(1_000_000, 0, 400_000, written=600_000), 1.7),
        (Price(2.0, 8.0), Usage(1_000_000, 0, 0, written=600_000), 2.0),
        (listed("anthropic")["claude-haiku-5-5"], Usage(100_000, 1_000), 0.01 + 0.0005),
        (listed("anthropic")["claude-haiku-5-5"], Usage(200_000, 1_000), 0.1 + 0.0025),
        (FREE, Usage(1_000_000, 1_000_000), 0.0),
    ],
)
def test_costs_by_hand(tariff: Price, usage: Usage, dollars: float) -> None:
    assert tariff.cost(usage) == pytest.approx(dollars)


@pytest.mark.parametrize("provider", ["openai", "anthropic", "google", "groq", "mistral"])
def test_every_listed_price_is_one(provider: str) -> None:
    tariffs = listed(provider).values()
    assert len(tariffs) > 10
    assert all(tariff.input >= (tariff.cached or 0) >= 0 for tariff in tariffs)
    assert all(tariff.long is None or tariff.beyond is not None for tariff in tariffs)


def test_a_list_costs_what_the_package_says_it_costs() -> None:
    """Below and above every step of a tariff."""
    for provider in ("openai", "anthropic", "google"):
        for model, tariff in listed(provider).items():
            for tokens in (1_000, 100_001, 200_000, 200_001, 272_000, 272_001, 900_000):
                usage = Usage(tokens, 1_000, tokens // 4, written=tokens // 8)
                theirs = genai_prices.calc_price(
                    genai_prices.Usage(
                        input_tokens=usage.input, output_tokens=usage.output,
                        cache_read_tokens=usage.cached, cache_write_tokens=usage.written,
                    ),
                    model, provider_id=provider,
                )  # fmt: skip
                assert tariff.cost(usage) == pytest.approx(float(theirs.total_price)), model


def test_without_the_package_prices_are_unknown() -> None:
    code = (
        "import sys; sys.modules['genai_prices'] = None\n"
        "from clew.models.prices import FREE, Price, price\n"
        "assert price('openai', 'gpt-4o') is None\n"
        "assert price('openai', 'gpt-4o', {'gpt-4o': Price(1, 2)}) == Price(1, 2)\n"
        "assert price('ollama', 'any') == FREE"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_model_of_one_machine_asks_no_list() -> None:
    code = (
        "import sys, clew; from clew.models.prices import price; price('ollama', 'any')\n"
        "assert 'genai_prices' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_other_formats_of_a_provider_cost_the_same() -> None:
    assert price("openai-responses", "gpt-5.1") == price("openai", "gpt-5.1")
    assert price("ollama-completions", "any") == FREE
    assert price("openrouter-responses", "any") is None
