"""A package that cannot be imported is in the way of who asks for what it adds, of nobody else."""

import os
import re
from pathlib import Path

import pytest

from tests.cli.shell import clew

KINDS = [
    *("models", "stores", "workers", "tools", "guards", "screens", "checks", "documents"),
    *("memory", "mcp", "strategies", "votes", "workspace", "doctor", "commands"),
    *("codecs", "examples", "programs", "agents"),
]

BREAKS = {
    "raise RuntimeError('boom\\nand more')": "RuntimeError: boom and more",
    "def f(:": "SyntaxError: ",
    "nothing = 1": "AttributeError: module 'torn_module' has no attribute 'THING'",
    "raise SystemExit(9)": "SystemExit: 9",
    "raise BaseExceptionGroup('all', [KeyError('k')])": "ExceptionGroup: all (1 sub-exception)",
    "from clew import a_word_of_another_version": "cannot import name 'a_word_of_another_version'",
}


@pytest.fixture(params=BREAKS, ids=[text[:12] for text in BREAKS.values()])
def broken(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[dict[str, str], str]:
    """The environment with a package that adds `torn` to every group, and why it cannot."""
    env = installed(tmp_path / "site", "torn-package", dict.fromkeys(KINDS, "torn_module:THING"))
    (tmp_path / "site" / "torn_module.py").write_text(request.param)
    return env, BREAKS[request.param]


def installed(site: Path, package: str, entries: dict[str, str]) -> dict[str, str]:
    """The environment of a process in which a package adds `torn` to these groups."""
    info = site / f"{package.replace('-', '_')}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    groups = [f"[clew.{group}]\ntorn = {value}\n" for group, value in entries.items()]
    (info / "entry_points.txt").write_text("".join(groups))
    return {"PYTHONPATH": os.pathsep.join([str(site), os.environ.get("PYTHONPATH", "")])}


@pytest.mark.slow
def test_what_does_not_ask_for_it_goes_on(broken: tuple[dict[str, str], str]) -> None:
    env, why = broken
    for words in (
        ("ask", "What is 2+3?"),
        ("doctor", "models", "offline"),
        ("doctor", "models"),
        ("tools", "list"),
        ("--help",),
        ("worker", "--until-idle"),
    ):
        done = clew(*words, env=env)
        assert done.code == 0, (words, done.err)
    lines = clew("doctor", env=env).out.splitlines()
    told = [line for line in lines if re.match(r"--  package +torn-package ", line)]
    assert len(told) == 1
    assert why in told[0]


@pytest.mark.slow
def test_who_asks_for_it_is_told_in_a_line(broken: tuple[dict[str, str], str]) -> None:
    env, why = broken
    Path("own.toml").write_text('model = "offline"\nscreens = ["torn"]\n')
    for words in (
        ("ask", "Why?", "--model", "torn:x"),
        ("ask", "Why?", "--model", "offline", "--tools", "torn"),
        ("ask", "Why?", "--model", "offline", "--strategy", "torn"),
        ("ask", "Why?", "--agent", "own.toml"),
        ("ask", "Why?", "--model", "offline", "--codec", "torn"),
        ("runs", "--store", "torn://x"),
        ("worker", "--driver", "torn"),
        ("torn",),
    ):
        done = clew(*words, env=env)
        assert done.code in {2, 5}, (words, done)
        assert done.err.count("\n") == 1, (words, done.err)
        said = "torn cannot be imported from torn_module:THING of torn-package: "
        assert f"{said}{why}" in re.sub(r"\(Base", "(", done.err), words


def test_what_is_no_command_or_makes_no_tool_is_told_as_well(tmp_path: Path) -> None:
    entries = {"commands": "torn_module:NUMBER", "tools": "torn_module:make"}
    env = installed(tmp_path / "site", "torn-package", entries)
    (tmp_path / "site" / "torn_module.py").write_text("NUMBER = 1\ndef make():\n    return 1 / 0\n")
    helped = clew("--help", env=env)
    assert (helped.code, "is no click.Command" in " ".join(helped.out.split())) == (0, True)
    listed = clew("tools", "list", env=env)
    said = "Not usable: the tool torn cannot be made: ZeroDivisionError: division by zero\n"
    assert (listed.code, listed.err) == (0, said)
    assert "calc(" in listed.out
    assert clew("torn", env=env).code == 2
    assert clew("ask", "Why?", "--tools", "torn", env=env).code == 2


def test_what_is_no_format_or_makes_no_guard_is_told_in_a_line(tmp_path: Path) -> None:
    entries = {"codecs": "torn_module:NUMBER", "tools": "torn_module:make", "guards": "math:sqrt"}
    env = installed(tmp_path / "site", "torn-package", entries)
    (tmp_path / "site" / "torn_module.py").write_text(
        "from clew import tool\n"
        "NUMBER = 1\n"
        "@tool\n"
        "def torn():\n    'Tear.'\n"
        "def make():\n    return torn\n"
    )
    done = clew("ask", "Why?", "--codec", "torn", env=env)
    assert (done.code, "torn of clew.codecs is of type int: name a Codec" in done.err) == (2, True)
    done = clew("ask", "Why?", "--tools", "torn", env=env)
    assert (done.code, "the guard of the tool torn cannot be made: TypeE" in done.err) == (2, True)
