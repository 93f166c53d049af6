"""Nothing that others wrote acts on a terminal: one exit for text, and no way past it."""

import ast
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from clew.cli import safe_text
from clew.cli.errors import explain
from clew.cli.safe_text import say
from clew.cli.screen import console
from clew.support.errors import ConfigError, ModelError, StoreError
from clew.support.printable import printable
from tests.cli.shell import clew

SOURCE = Path(safe_text.__file__).parents[1]
EXITS = {
    "cli/safe_text.py": "the exit itself",
    "cli/export.py": "an archive, in bytes: not to a terminal",
    "cli/html_file.py": "a page, in bytes: not to a terminal",
    "cli/errors.py": "the streams are flushed, and set to what cannot act",
    "cli/safe_stream.py": "",
    "tools/process_child.py": "the child of a tool, whose streams are pipes",
    "stores/sqlite/heads.py": "a file",
}
PAST = {
    "click.echo", "click.secho", "click.prompt", "click.launch", "click.style", "click.pause",
    "click.progressbar", "click.echo_via_pager", "print", "Console", "sys.stdout.write",
    "sys.stderr.write", "sys.stdout.buffer", "sys.stderr.buffer", "sys.__stdout__",
    "sys.__stderr__", "sys.stdout", "sys.stderr", "os.write", "os.system", "webbrowser.open",
    "traceback.print_exc", "logging.basicConfig", "logging.StreamHandler", "pprint.pprint",
    "rich.print", "open_tty",
}  # fmt: skip
LOOKED_AT = {"isatty", "fileno", "flush"}
"""What may be asked of a stream."""
ASKED = {"input", "click.confirm", "getpass.getpass"}
"""What writes a prompt: fixed words only."""
DANGERS = [
    "\x1b[2J",
    "\x1b]0;title\x07",
    "\x1b]8;;http://evil\x1b\\click\x1b]8;;\x1b\\",
    "\x9b31m",
    "\x1bP+q\x1b\\",
    "\x90dcs\x9c",
    "one\rtwo",
    "a\x08b",
    "\x0b\x0c",
    "\x7f",
    "\u202egnp.exe",
    "\u2066x\u2069",
    "\u200bhidden",
    "\ufeffbom",
    "\x1b[1A\x1b[2K",
    "\x00",
]


def past_the_exit(source: str) -> list[str]:
    """How a module writes past the one exit."""
    tree = ast.parse(source)
    calls = {node.func: node for node in ast.walk(tree) if isinstance(node, ast.Call)}
    own = {
        name
        for node in ast.walk(tree)
        for name in (getattr(node, "arg", ""), getattr(node, "name", ""), getattr(node, "id", ""))
        if not isinstance(getattr(node, "ctx", None), ast.Load)
    }
    looks = {
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and node.attr in LOOKED_AT
    }
    return [
        f"{dotted}, line {node.lineno}"
        for node in ast.walk(tree)
        if isinstance(node, ast.Name | ast.Attribute)
        and node not in looks
        and not (isinstance(node, ast.Name) and node.id in own)
        and (
            ((dotted := ast.unparse(node)) in PAST and (node in calls or dotted != "Console"))
            or (dotted in ASKED and not (node in calls and _fixed(calls[node])))
        )
    ]


def _fixed(call: ast.Call) -> bool:
    """Whether a prompt is made of words that stand in the source."""
    plain = (ast.Constant, ast.IfExp)
    return all(
        isinstance(each, plain) or ast.unparse(each) == "PROMPT"
        for each in (*call.args, *(word.value for word in call.keywords))
    )


@pytest.mark.parametrize(
    "path", sorted(SOURCE.rglob("*.py")), ids=lambda path: path.relative_to(SOURCE).as_posix()
)
def test_nothing_writes_past_the_exit(path: Path) -> None:
    if path.relative_to(SOURCE).as_posix() not in EXITS:
        assert past_the_exit(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    "line",
    [
        "click.echo(x)", "print(x)", "Console().print(x)", "sys.stderr.write(x)",
        "say = click.echo",
        "print(x, file=sys.stderr)", "input(x)", "click.confirm(f'{x}?')", "os.write(2, x)",
        "console(file=sys.__stderr__)", "click.launch(x)", "ask = input",
    ],
)  # fmt: skip
def test_a_way_past_is_found(line: str) -> None:
    assert past_the_exit(line) != []


@pytest.mark.parametrize("text", DANGERS)
def test_the_exits_show_what_would_act(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    say(f"before {text} after")
    console().print(f"before {text} after")
    console(stderr=True).print(f"before {text} after")
    said = capsys.readouterr()
    for out in (said.out, said.err):
        assert text not in out
        assert all(letter == "\n" or letter.isprintable() for letter in out)
    assert printable(printable(text)) == printable(text)


@pytest.mark.parametrize("text", DANGERS[:6])
@pytest.mark.parametrize("kind", [ConfigError, ModelError, StoreError, ValueError])
def test_an_error_that_quotes_others_is_shown_inert(
    text: str, kind: type[Exception], capsys: pytest.CaptureFixture[str]
) -> None:
    error = kind(f"HTTP 500: {text}")
    error.add_note(text)
    said, _ = explain(error)
    say(said, err=True)
    assert text not in capsys.readouterr().err


def test_what_a_store_says_of_itself_is_inert() -> None:
    path = Path("runs.sqlite")
    clew("ask", "What is 2 + 2?", "--store", str(path))
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE runs SET run_id = ?", ("r\x1b[2J\u202e",))
    connection.close()
    path.with_name("runs.sqlite.heads").unlink()
    for command in (
        ["runs"],
        ["records", "verify"],
        ["show", "r"],
        ["records", "export", "--archive", "x"],
    ):
        done = clew(*command, "--store", str(path))
        assert "\x1b" not in done.out + done.err, command
        assert "\u202e" not in done.out + done.err, command
