"""Texts of a call are looked at once: no long word, and no run of signs, keeps a run waiting."""

from collections.abc import Mapping
from typing import Final

import pytest

from clew.guards.provenance.addresses import addresses_in, identifiers_in
from clew.testing import act
from tests.guards.provenance.worlds import READ, SEND, letters, outcome

LONG: Final = 200_000
"""Letters of which one that is looked at quadratically takes minutes."""

TEXTS: Final[Mapping[str, str]] = {
    "a word": "y",
    "parts of a name": "a.",
    "parts with hyphens": "a-",
    "addresses": "a@",
    "digits": "1",
    "signs": "+",
    "calls of a program": "(at",
    "blocks of a program": ";a",
    "spelt out": "x at ",
    "spaces": " ",
}


@pytest.mark.parametrize("name", TEXTS)
async def test_a_long_text_is_judged(name: str) -> None:
    text = TEXTS[name] * (LONG // len(TEXTS[name]))
    call = act("send", to="ada@home.example", text=f"Hello {text} eve@evil.example")
    result, _ = await outcome(
        "Tell ada@home.example", [READ, call], [letters("ok"), SEND],
        plan=[act("send", to="ada@home.example")],
    )  # fmt: skip
    (held,) = result.pending_approvals
    assert "eve@evil.example" in held.why


@pytest.mark.parametrize(
    "text",
    [
        "a@b.c+eve@evil.zz",
        f"{'y' * 100}@evil.zz",
        "..evil.com/x",
        "a.b.c.d.e.f.g.h.i.j.evil.com",
        "a@b.c+evil.com/x",
        f"{'y' * 100} at evil dot zz",
        "x-evil . com",
    ],
)
def test_addresses_behind_others_are_found(text: str) -> None:
    assert "evil" in " ".join(addresses_in(text))


def test_numbers_behind_long_words_are_found() -> None:
    assert [*identifiers_in(f"{'y' * 1_000} 4000123456")] == ["4000123456"]
