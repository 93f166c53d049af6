"""Every example in the documents is run, so that none of them lies.

In each file, in order and in one temporary folder (with copies of `docs/` and `examples/`):

- A `python` block is executed; the blocks of a file share their names. `await` may stand alone.
- A line `$ clew …` (or `$ … | clew …`) of a `console` or `sh` block is run as a shell does, by one
  where it is more than words. Where output is shown below it, that is what must come: `…` stands
  for any text, alone in a line for any lines. It must succeed, or end as ` ```console exit=3 `
  says. Other `$` lines are for people.
- ` ```python skip=why not ` is shown and not run.
"""

import ast
import asyncio
import inspect
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import pytest

from tests.patience import PATIENCE
from tests.warm import Process

ROOT = Path(__file__).parents[2]
PAGES = (*ROOT.glob("docs/**/*.md"), *ROOT.glob("packages/*/README.md"))
DOCUMENTS = [ROOT / "README.md", *sorted(PAGES)]
SHELLS = {"console", "sh", "shell", "bash"}
FENCE = re.compile(r"(?P<indent>[ >]*)(?P<ticks>`{3,}|~{3,}) *(?P<language>\S*) *(?P<info>.*)")


@dataclass(frozen=True)
class Block:
    language: str
    line: int  # of its first line of text
    text: str
    skip: str = ""
    exit: int = 0


@dataclass(frozen=True)
class Command:
    line: int
    text: str
    output: str


def blocks(document: str) -> Iterator[Block]:
    lines = iter(enumerate(document.splitlines(), 1))
    for number, line in lines:
        if not (fence := FENCE.fullmatch(line)):
            continue
        indent, ticks = fence["indent"], fence["ticks"]
        text: list[str] = []
        for _, inner in lines:
            if inner.removeprefix(indent).strip() == ticks:
                break
            text.append(inner.removeprefix(indent))
        else:
            pytest.fail(f"line {number}: the block is not closed")
        skip, code = told(fence["language"], fence["info"], number)
        yield Block(fence["language"], number + 1, "\n".join(text), skip, code)


def told(language: str, info: str, line: int) -> tuple[str, int]:
    """What the words after the language ask for."""
    if language not in {"python", *SHELLS} or not info:
        return "", 0
    if match := re.fullmatch(r"skip=(.*\w.*)|exit=(\d+)", info.strip()):
        return match[1] or "", int(match[2] or 0)
    return pytest.fail(f"line {line}: say skip=reason or exit=code, not {info!r}")


def commands(block: Block) -> Iterator[Command]:
    """The commands of ours in a block, each with the output shown below it."""
    parts = re.split(r"^\$ ", block.text, flags=re.MULTILINE)
    line = block.line + parts[0].count("\n")
    for part in parts[1:]:
        text, _, output = re.sub(r"\\\n(> )?", "\\\\\0", part).partition("\n")
        text, output = text.replace("\\\0", " "), output.replace("\\\0", "\\\n")
        if re.match(r"(\w+=\S* |.*\| *)?clew( |$)", text):
            yield Command(line, text, output)
        line += part.count("\n")


def alike(printed: str, real: str) -> bool:
    """Compare line by line, with `…` for any text, and a line of it for any lines."""
    pattern = ""
    for line in printed.strip().splitlines():
        if line.strip() == "…":
            pattern += r"(?:.*\n)*?"
        else:
            pattern += ".*".join(map(re.escape, line.rstrip().split("…"))) + r"\n"
    text = "".join(f"{line.rstrip()}\n" for line in real.strip().splitlines())
    return re.fullmatch(pattern, text) is not None


def run_python(block: Block, name: str, module: ModuleType) -> None:
    """Execute a block with its own line numbers, so that a traceback points into the document."""
    source = "\n" * (block.line - 1) + block.text
    code = compile(source, name, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
    result = eval(code, vars(module))
    if inspect.iscoroutine(result):
        asyncio.run(result)


def run_command(command: Command, block: Block, name: str) -> None:
    scripts = str(Path(sys.executable).parent)
    plain = {"COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb", "PYTHONIOENCODING": "utf-8"}
    plain["PYTHONUNBUFFERED"] = "1"  # so that output and errors come in the order they were said
    env = os.environ | plain | {"PATH": scripts + os.pathsep + os.environ["PATH"]}
    with tempfile.TemporaryFile("w+", encoding="utf-8") as both:
        fd = both.fileno()
        if match := re.fullmatch(r"clew ([^|&;<>()$`]*)", command.text):
            process = Process(["-m", "clew_cli", *shlex.split(match[1])], env, stdout=fd, stderr=fd)
            code = process.wait(PATIENCE)
        else:
            code = subprocess.run(
                ["sh", "-c", command.text], env=env, stdin=subprocess.DEVNULL, stdout=fd, stderr=fd,
                timeout=PATIENCE, check=False,
            ).returncode  # fmt: skip
        both.seek(0)
        record = both.read()
    where = f"{name}:{command.line}: $ {command.text}\n"
    assert code == block.exit, where + record
    if command.output.strip():
        assert alike(command.output, record), (
            f"{where}--- shown:\n{command.output}\n--- real:\n{record}"
        )


def run_document(path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("document_" + re.sub(r"\W", "_", name))
    # Where annotations are looked up by the name of their module.
    monkeypatch.setitem(sys.modules, module.__name__, module)
    for block in blocks(path.read_text("utf-8")):
        if block.skip:
            continue
        if block.language == "python":
            run_python(block, name, module)
        elif block.language in SHELLS:
            for command in commands(block):
                run_command(command, block, name)


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_the_examples_of(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for folder in ("docs", "examples"):
        if (ROOT / folder).is_dir():
            shutil.copytree(ROOT / folder, tmp_path / folder)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("CLEW_STORE", str(tmp_path / ".clew"))
    run_document(path, path.relative_to(ROOT).as_posix(), monkeypatch)


def test_every_page_is_listed() -> None:
    listed = (ROOT / "docs" / "README.md").read_text("utf-8")
    pages = {path.name for path in (ROOT / "docs").glob("*.md")} - {"README.md"}
    assert {page for page in pages if f"]({page})" not in listed} == set()


def test_the_manual_stays_short() -> None:
    pages = [path for path in (ROOT / "docs").glob("*.md") if path.name != "README.md"]
    assert len(pages) <= 17
    assert (
        sum(len(path.read_text("utf-8").split()) for path in (ROOT / "docs").glob("*.md")) <= 30_000
    )


def test_blocks_share_names_keep_their_order_and_may_be_skipped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = tmp_path / "a.md"
    document.write_text(
        "```python\nseen = [1]\nimport asyncio\n```\n"
        "```python skip=needs a key\nseen.append(2)\n```\n"
        "- in a list\n  ```python\n  seen.append(3)\n  await asyncio.sleep(0)\n  ```\n"
        "````md\n```python\nseen.append(4)\n```\n````\n"
        "```python\nfrom dataclasses import dataclass\n"
        "@dataclass\nclass A:\n    b: 'A | None' = None\n"
        "import typing; typing.get_type_hints(A)\n"
        "assert seen == [1, 3]\n```\n"
    )
    run_document(document, "a.md", monkeypatch)


@pytest.mark.parametrize(
    ("text", "error", "line"),
    [
        ("text\n```python\nx = 1\n1 / 0\n```\n", ZeroDivisionError, 4),
        ("```python\nassert False\n```\n", AssertionError, 2),
    ],
)
def test_a_block_that_fails_is_told_with_its_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, error: type[Exception], line: int
) -> None:
    document = tmp_path / "a.md"
    document.write_text(text)
    with pytest.raises(error) as caught:
        run_document(document, "a.md", monkeypatch)
    assert (caught.traceback[-1].path, caught.traceback[-1].lineno + 1) == ("a.md", line)


@pytest.mark.parametrize("text", ["```python skip\n```", "```console exit=x\n```", "```python\nx"])
def test_a_block_that_cannot_be_read_fails(text: str) -> None:
    with pytest.raises(pytest.fail.Exception):
        list(blocks(text))


def test_commands_are_ours_and_come_with_their_output() -> None:
    text = "a clew\n$ make ask\nyes\n$ clew ask x \\\n>   --json\nout\n\nmore\n"
    text += "$ echo /help | clew chat"
    assert list(commands(Block("console", 10, text))) == [
        Command(13, "clew ask x    --json", "out\n\nmore\n"),
        Command(18, "echo /help | clew chat", ""),
    ]


@pytest.mark.parametrize(
    ("text", "real", "same"),
    [
        ("a\nb", "a\nb\n", True),
        ("a\nb", "a\nc\n", False),
        ("a\nb", "a\n", False),
        ("a", "a\nb\n", False),
        ("run …: done", "run 4f2: done  \n", True),
        ("run …: done", "run 4f2: do\nne\n", False),
        ("a\n…\nz", "a\nz\n", True),
        ("a\n…\nz", "a\nb\n\nc\nz\n", True),
        ("a\n…", "b\n", False),
        ("a.c", "abc", False),
    ],
)
def test_shown_output_stands_for_the_real_one(text: str, real: str, same: bool) -> None:
    assert alike(text, real) is same
