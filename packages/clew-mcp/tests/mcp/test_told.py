"""What is left out of a server's tools is told, also in a program that has set up no logging."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.mcp.servers import definition, plain_server

PROGRAM = """
import sys
from clew_mcp import mcp_tools_sync
print(len(mcp_tools_sync(f"plain={sys.argv[1]}", pins=sys.argv[2])))
"""


def said(line: str, pins: Path, setup: str = "") -> tuple[str, str]:
    done = subprocess.run(
        [sys.executable, "-c", setup + PROGRAM, line, str(pins)],
        capture_output=True, check=True, text=True,
    )  # fmt: skip
    return done.stdout, done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("setup", ["", "import logging; logging.basicConfig()"])
def test_what_is_left_out_is_told_once(tmp_path: Path, setup: str) -> None:
    bad = definition("bad", outputSchema="none")
    plain = plain_server(tmp_path / "plain", tools=[definition("good"), bad])
    address = plain.server().address
    out, err = said(address, plain.pins, setup)
    assert out == "1\n"
    assert err.count("the tool bad is left out: its outputSchema is no JSON object") == 1
    assert ("UserWarning" in err) == (not setup)


@pytest.mark.slow
def test_pins_of_another_command_are_told(tmp_path: Path) -> None:
    one = plain_server(tmp_path / "one", tools=[definition("good")])
    two = plain_server(tmp_path / "two", tools=[definition("better")])
    said(one.server().address, one.pins)
    assert "UserWarning" not in said(one.server().address, one.pins)[1]
    err = said(two.server().address, one.pins)[1]
    assert f"for {one.server().address}, and not for {two.server().address}" in err
    assert f"`clew mcp pins accept plain --pins {one.pins} --mcp 'plain=" in err
