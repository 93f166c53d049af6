"""Addresses of stores: what of them may be shown, and what cannot be read."""

import pytest

from clew import StoreError
from clew.stores import has_password, is_address, scheme_of, without_password
from clew.stores.address import joined_address, split_address


def test_an_address_is_known_by_a_scheme_that_a_store_has() -> None:
    assert scheme_of("https://host/x") == "https://"
    assert (scheme_of("runs.sqlite"), is_address("runs.sqlite")) == ("", False)
    assert not is_address("https://host/x")  # no store has this scheme
    assert not has_password("https://u:p@host/x")
    assert without_password("https://u:p@host/x") == "https://…"
    assert without_password("runs.sqlite") == "runs.sqlite"


def test_the_parts_of_an_address_are_put_together_again() -> None:
    named = "postgresql://ada@host:5432/runs?sslmode=require"
    parts = split_address(named)
    assert joined_address(parts, [("sslmode", "require")]) == named
    assert joined_address(split_address("postgresql:///runs"), []) == "postgresql:///runs"


@pytest.mark.parametrize(
    "named",
    [
        "postgresql://ada@host:x/runs",
        "postgresql://ada@host:0/runs",
        "postgresql://ada:p@ss@host/runs",
        "postgresql://ada:p#ss@host/runs",
        "postgresql://[::1/runs",
    ],
)
def test_an_address_that_can_be_read_in_two_ways_is_refused(named: str) -> None:
    with pytest.raises(StoreError, match=r"(no number|cannot be read)"):
        split_address(named)
