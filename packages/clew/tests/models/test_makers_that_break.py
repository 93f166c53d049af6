"""Providers whose module fails when it is imported, and what the Responses API does not take."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from clew.models import resolve
from clew.models.openai.responses_prompt import head
from clew.models.provider import Provider
from clew.support.errors import ConfigError


@pytest.fixture
def breaks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The module of the only provider there is."""
    provider = Provider(
        "acme", "acme_breaks:model", "json", "", "http://127.0.0.1:9/v1", "ACME_URL"
    )
    monkeypatch.setattr(sys.modules["clew.models.resolve"], "find", lambda *_: provider)
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path / "acme_breaks.py"
    sys.modules.pop("acme_breaks", None)


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("raise ValueError('no such moon')", "no such moon"),
        ("raise SystemExit(3)", "SystemExit"),
        ("model = missing", "name 'missing' is not defined"),
        ("", "model"),
    ],
)
def test_what_a_maker_raises_is_told_in_one_line(breaks: Path, source: str, said: str) -> None:
    breaks.write_text(source)
    with pytest.raises(
        ConfigError, match=f"acme:m cannot be loaded from acme_breaks:model: .*{said}"
    ) as told:
        resolve("acme:m")
    assert "\n" not in str(told.value)


def test_who_presses_control_c_meanwhile_is_heard(breaks: Path) -> None:
    breaks.write_text("raise KeyboardInterrupt")
    with pytest.raises(KeyboardInterrupt):
        resolve("acme:m")


def test_responses_take_no_stop_sequences() -> None:
    with pytest.raises(ConfigError, match="takes no stop sequences; leave out the parameter stop"):
        head("m", {"stop": ["END"]}, encrypted=False)
    assert head("m", {"seed": 1}, encrypted=True) == (
        b'{"model":"m","store":false,"seed":1,"include":["reasoning.encrypted_content"],"input":['
    )
