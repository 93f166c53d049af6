"""Addresses of databases: what is read in them, and what is never shown."""

import subprocess
import sys

import pytest

from clew.stores import has_password, is_address, without_password
from clew.support.errors import StoreError
from clew.support.extras import install
from clew_cluster.postgres.address import Address, parse


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("postgresql://ada:pw@h:1/d", "postgresql://ada@h:1/d"),
        (
            "postgres://h/d?schema=mine&sslmode=disable",
            "postgres://h/d?schema=mine&sslmode=disable",
        ),
        ("postgresql:///d?host=/run/pg&password=pw", "postgresql:///d?host=/run/pg"),
        ("postgresql://ada:p%40w@h,i:2/d?sslpassword=pw", "postgresql://ada@h,i:2/d"),
        ("postgresql://ada:p@w@h/d", "postgresql://…"),
        ("postgresql://ada:12/pw@h/d", "postgresql://…"),  # which begins like host and port
        ("postgresql://ada:12?pw@h/d", "postgresql://…"),
        ("runs.sqlite", "runs.sqlite"),
    ],
)
def test_what_is_shown_holds_no_password(given: str, told: str) -> None:
    assert without_password(given) == told


def test_what_an_address_says() -> None:
    found = parse("postgresql://ada:pw@h/d?schema=my_runs&patience=2.5&sslmode=disable")
    assert found == Address(
        "postgresql://ada:pw@h/d?sslmode=disable",
        "postgresql://ada@h/d?schema=my_runs&patience=2.5&sslmode=disable",
        "my_runs",
        2.5,
    )
    assert parse("postgresql:///d") == Address("postgresql:///d", "postgresql:///d", "clew", 10.0)
    assert "pw" not in repr(found)


@pytest.mark.parametrize(
    ("given", "secret"),
    [
        ("postgresql://ada:pw@h/d", True),
        ("postgresql://ada@h/d?password=pw", True),
        ("postgresql://ada@h/d", False),
        ("folder/postgresql://ada:pw@h", False),
    ],
)
def test_whether_a_place_has_a_password(given: str, *, secret: bool) -> None:
    assert has_password(given) is secret


@pytest.mark.parametrize("patience", ["0", "-1", "nan", "inf", "4000", "long", ""])
def test_a_patience_that_is_none_is_refused(patience: str) -> None:
    with pytest.raises(StoreError, match="is a number of seconds"):
        parse(f"postgresql://h/d?patience={patience}")


@pytest.mark.parametrize("schema", ["", "Runs", "1runs", "my-runs", 'a"b', "a.b", "x" * 52, "é"])
def test_a_schema_that_would_need_quotes_is_refused(schema: str) -> None:
    with pytest.raises(StoreError, match="must consist of small letters"):
        parse(f"postgresql://h/d?schema={schema}")


@pytest.mark.parametrize(
    "given", ["postgresql://u:pw[x@h/d", "postgresql://u@h:99999999/d", "postgresql://u:pw@h/d#"]
)
def test_what_cannot_be_read_is_not_repeated(given: str) -> None:
    with pytest.raises(StoreError) as caught:
        parse(given)
    assert "pw" not in str(caught.value)
    assert "\n" not in str(caught.value)


WITHOUT = """
import sys
sys.modules[sys.argv[1]] = None
from clew.support.errors import StoreError
from clew.stores import open_store
try:
    open_store("postgresql://h/d")
except StoreError as error:
    print(error)
"""


@pytest.mark.parametrize("missing", ["psycopg", "psycopg_pool"])
def test_without_the_extra_it_says_what_to_install(missing: str) -> None:
    command = [sys.executable, "-c", WITHOUT, missing]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    advice = install("postgres", "clew-cluster")
    told = f"postgresql needs {missing}, which is not installed: run {advice}\n"
    assert done.stdout == told
    assert is_address("postgres://h/d")
