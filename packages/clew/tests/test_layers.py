"""The architecture, held by tests: layers, sizes, public names, and what no file may say.

Each rule is a function from source to complaints, and is shown here to complain.
"""

import ast
import importlib
import io
import re
import subprocess
import sys
import tokenize
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeAlias

import pytest

Rule: TypeAlias = Callable[[Path, Path], Iterator[str]]

ROOT = Path(__file__).parents[3]
HOUSE = ROOT / "packages" / "clew"
PACKAGE = HOUSE / "src" / "clew"

# Imports point down: to a lower layer, or to a neighbour. Layer 3 has no neighbours, only rooms.
# A module that is not named stands where its package stands.
LAYERS = {
    "concurrency": 0,  # tasks, threads, one event loop for callers without one
    "core": 0,
    "core.errors": 0,
    "core.events": 0,
    "support": 0,  # half characters, private files, extras, the table of wings
    "support.arguments": 1,  # whether what a public function is given is of the right kind
    "support.parts": 1,  # how every part that is a user's own is called
    "support.redaction": 1,  # known secrets are blotted out of events
    "core.steps": 1,  # what a trajectory is made of
    "core.trajectory": 1,
    "citations": 2,  # what an answer cites
    "context.prompt_parts": 2,  # the steps of a prompt, as they grow
    "core.inbox": 2,  # which words from outside may enter a record
    "core.interfaces": 2,
    "core.done": 2,  # a side effect in one line, as others are told of it
    "core.at_work": 2,  # what runs that work at once for a strategy began
    "core.received": 2,  # what a tool receives, however it was written
    "interfaces": 2,  # of the core, for whoever writes a part: here and elsewhere
    "stores.interface": 2,  # what a store may offer beside the core's `Store`
    "stores.blobs": 2,  # how an event lies in a line and blobs
    "codecs.interface": 2,  # the door of a format
    "codecs": 3,
    "context": 3,
    "core.budget": 3.5,  # the one account of a run, with what `context` expects of its next call
    "core.journal": 3,
    "evidence": 3,
    "guards": 3,
    "models": 3,
    "screens": 3,
    "stores": 3,
    "tools": 3,
    "memory": 3.5,  # facts that outlive a run: ranked with what `tools` has
    "toolbox": 3.5,  # made with what `tools` gives everybody
    "context.critic": 3.5,  # a model that reads a run
    "context.summary": 4,  # asks a model for what a compaction leaves out
    "context.rendered_prompt": 4,  # the prompt of any thought, made again from the record
    "core.agent": 4,
    "core.effects": 4,  # what runs did in the world, as other runs are told it
    "core.siblings": 4,  # what runs that work at once are told of each other
    "core.execute": 4,  # one call of one tool: deadline, retry
    "core.lost_digits": 4,  # whether a decimal was read with fewer digits than were written
    "core.moves": 4,  # what is next
    "core.observations": 4,  # where they are made: of a result, an error, a refusal, a sub-run
    "core.pending": 4,  # what waits for a person, and how a person ends a run
    "core.call_ids": 4,  # whether a provider sent one call twice
    "core.policy": 4,  # what the checks of an agent say of a call or an answer
    "core.subruns": 4,  # one call that is made in a run of its own
    "core.thought": 4,  # one thought: prompt, reply, and that as it is read
    "validate": 4,  # whether the parts of an agent fit together
    "result": 4,  # what a run came to, for the agent that ran
    "compare": 4,  # where two records part
    "core.fork": 5,
    "core.loop": 5,
    "core.replay": 5,
    "core.reworded": 2,  # events in the words that a record has for them
    "core.runner": 5,  # how a record is begun and taken up, for the faces above and for sub-runs
    "testing": 5.5,  # doubles, servers and contracts: from anything below 6, for no one below 6
    "agent_files": 6,
    "otel": 6,  # spans, from records
    "reply_parser": 6,  # a second model that reads the replies of one that keeps no format
    "strategies": 6,
    "subagents": 6,  # an agent as a tool: its runs, and what they come to
    "workers": 6,
    "api": 7,
    "approvals": 7,
    "rewinding": 7,  # a person takes a wrong branch out of the view
    "apps": 7,
    "clew": 7,  # the package itself: what a user's own code could import
    "retention": 7,  # records in the long run: forgotten, archived, verified
    "__main__": 8,
    "cli": 8,
    "serve": 8,
}
PARTS = 3
NEVER = {  # who may not import what, where the layers alone would let them
    "core.errors": {"core.events"},
    "core.events": {"core.errors"},
    "core.loop": {"codecs", "models", "stores", "tools"},
    "serve": {"cli"},
    "serve.viewer": {"core.loop"},
}
SERIALISER = "msgspec"
BY_NAME = {  # who may import a module whose name is data
    "__init__.py": "a public name is loaded when it is first used",
    "models/resolve.py": "what makes a model stands on an optional extra, and its row names it",
    "support/wings.py": "what reads entry points is dear to import",
    "agent_files/imports.py": "a user's own part is named module:name; tools of an optional extra",
    "cli/groups.py": "a command, and an optional extra, is imported when it is used",
    "models/prices.py": "the list of prices is big, comes with providers, and is for their models",
    "stores/__init__.py": "platformdirs is dear to import, and most name their store",
    "toolbox/docs/extract.py": "what reads PDF and HTML is an optional extra too",
    "toolbox/mcp/pinned_server.py": "the SDK is dear to import, and most runs call no such tool",
    "toolbox/mcp/pins.py": "platformdirs is dear to import, and pins lie beside an agent file",
    "tools/process.py": "a killable tool is named module:function and loaded in its own process",
    "tools/pydantic_types.py": "pydantic is an optional extra, for types that only it reads",
    "tools/signature.py": "what reads docstrings is dear to import, and for who makes a tool",
    "tools/retrieval/load_extra.py": "ranking tools by meaning stands on an optional extra",
}
LONG: dict[str, str] = {}  # functions over 50 lines, with the reason
PROVIDERS = {
    "anthropic", "dbos", "google", "httpx", "httpx2", "mcp", "openai", "opentelemetry", "psycopg",
    "pydantic", "ray",
}  # fmt: skip


def room(module: str) -> str:
    """`clew.toolbox.docs.index` is in the room `toolbox`, `clew.core.loop` is one of its own."""
    parts = module.split(".")[1:3] or ["clew"]
    whole = ".".join(parts)
    return whole if whole in LAYERS or parts[0] == "core" else parts[0]


def name_of(path: Path, package: Path) -> str:
    parts = path.relative_to(package).with_suffix("").parts
    return ".".join(("clew", *(part for part in parts if part != "__init__")))


def imported(node: ast.AST, path: Path, package: Path) -> Iterator[str]:
    """All modules that an import statement loads; `from clew.a import b` may load `clew.a.b`."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        base = node.module or ""
        if node.level:
            here = ("clew", *path.relative_to(package).parts)[: -node.level]
            base = ".".join((*here, *filter(None, [base])))
        for alias in node.names:
            inside = package.joinpath(*base.split(".")[1:], alias.name)
            is_module = inside.is_dir() or inside.with_suffix(".py").is_file()
            yield f"{base}.{alias.name}" if base[:4] == "clew" and is_module else base


def layering(path: Path, package: Path) -> Iterator[str]:
    me = name_of(path, package)
    if (mine := LAYERS.get(room(me))) is None:
        yield f"{me} has no layer: give it its place in tests/test_layers.py"
        return
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        for it in imported(node, path, package):
            outside = it.split(".")[0] != "clew"
            if me == "clew.core.events" and outside:
                allowed = {SERIALISER, *sys.stdlib_module_names}
                if it.split(".")[0] not in allowed:
                    yield f"{me} imports {it}: it may import only its serialiser"
            if outside or room(it) == room(me):
                continue
            theirs = LAYERS.get(room(it), 99)
            forbidden = {
                name for who, names in NEVER.items() if f"{me}.".startswith(f"clew.{who}.")
                for name in names
            }  # fmt: skip
            if theirs > mine or theirs == mine == PARTS or room(it) in forbidden:
                yield f"{me} (layer {mine}) imports {it} (layer {theirs})"
            elif room(it) == "cli" and me != "clew.__main__":
                yield f"{me} imports {it}: nothing imports the cli"


def hidden_imports(path: Path, package: Path) -> Iterator[str]:
    """Imports inside functions, by a name that is data, or for the type checker only."""
    tree = ast.parse(path.read_text("utf-8"))
    place = path.relative_to(package).as_posix()
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            for node in ast.walk(function):
                if isinstance(node, ast.Import | ast.ImportFrom):
                    yield f"{place}:{node.lineno} imports inside a function"
    for node in ast.walk(tree):
        word = getattr(node, "id", None) or getattr(node, "attr", None)
        if word in {"import_module", "__import__"} and place not in BY_NAME:
            yield f"{place}:{node.lineno} imports by name"  # type: ignore[attr-defined]  # a Name or an Attribute
        if word == "TYPE_CHECKING":
            yield f"{place} has a TYPE_CHECKING block"


def sizes(path: Path, package: Path) -> Iterator[str]:
    text = path.read_text("utf-8")
    place = path.relative_to(package).as_posix()
    if place == "core/loop.py" and (lines := len(text.splitlines())) > 199:
        yield f"{place} has {lines} lines, and may have 199"
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or 0) - node.lineno + 1
            most = 100 if f"{place}:{node.name}" in LONG else 50
            if length > most:
                yield f"{place}:{node.name} has {length} lines, and may have {most}"


WAIVER = re.compile(
    r"#\s*(noqa(:\s*[A-Z]+\d+(,\s*[A-Z]+\d+)*)?|(type|pyright|mypy):\s*ignore(\[[^]]*\])?"
    r"|pragma:\s*no\s*(cover|branch)|fmt:\s*(off|skip)|ruff:\s*noqa\S*)"
)


def waivers(source: str) -> Iterator[str]:
    """Comments that silence a tool and do not say why (`fmt` says it by itself)."""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        found = WAIVER.search(token.string) if token.type == tokenize.COMMENT else None
        if found and not found[1].startswith("fmt"):
            reason = WAIVER.sub("", token.string)
            if not re.search(r"[^\W\d_]{4,}", reason):
                yield f"line {token.start[0]}: {token.string} gives no reason"


# Written so that no pattern matches its own text.
LEAKS = {
    "an index address": re.compile(
        r"[/]simple/|\bindex[-_]url\b|\b(files\.pythonhosted|registry\.npmjs)[.]\w+", re.IGNORECASE
    ),
    "a path of one machine": re.compile(
        r"(?<![\w.:/-])[/](home/\w+|Users/\w+|root/|work/)|[A-Z]:\\+Users\\+\w"
    ),
}


def leaks(text: str) -> Iterator[str]:
    for number, line in enumerate(text.splitlines(), 1):
        for what, pattern in LEAKS.items():
            if found := pattern.search(line):
                yield f"line {number} holds {what}: {found[0]}"


def own_files(*suffixes: str) -> list[Path]:
    """Files that are tracked or soon will be."""
    if not (ROOT / ".git").exists():
        pytest.skip("not a git checkout, so nothing says which files are ours")
    listing = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, check=True, capture_output=True, text=True,
    )  # fmt: skip
    paths = [ROOT / name for name in listing.stdout.split("\0") if name]
    return [path for path in paths if path.is_file() and path.name.endswith(suffixes or ("",))]


@pytest.mark.parametrize("rule", [layering, hidden_imports, sizes])
def test_the_package_keeps_the_rules(rule: Rule) -> None:
    paths = sorted(PACKAGE.rglob("*.py"))
    assert paths
    assert [complaint for path in paths for complaint in rule(path, PACKAGE)] == []


def test_who_is_excused_is_still_there() -> None:
    assert [name for name in BY_NAME if not (PACKAGE / name).exists()] == []
    assert [name for name in LONG if not (PACKAGE / name.split(":")[0]).exists()] == []


def test_every_waiver_gives_its_reason() -> None:
    found = {p: list(waivers(p.read_text("utf-8"))) for p in own_files(".py")}
    assert {str(path): complaints for path, complaints in found.items() if complaints} == {}


def test_the_map_shows_every_room() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    rooms = {f"{path.name}/" for path in PACKAGE.iterdir() if (path / "__init__.py").exists()}
    files = {path.name for path in (PACKAGE / "core").glob("*.py") if path.name[0] != "_"}
    assert {name for name in rooms | files if f"`{name}`" not in page} == set()


def test_the_picture_of_the_core_is_that_of_the_tree() -> None:
    draw = importlib.import_module("scripts.draw_core")
    assert draw.PICTURE.read_text("utf-8") == draw.drawn(), "run: python scripts/draw_core.py"
    page = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    assert " → ".join(f"`{name}.py`" for name in draw.FIRST) in " ".join(page.split())


def test_no_file_names_an_index_or_a_machine() -> None:
    found = {p: list(leaks(p.read_text("utf-8", errors="ignore"))) for p in own_files()}
    assert {str(path): complaints for path, complaints in found.items() if complaints} == {}


def test_all_public_names_are_listed_in_order() -> None:
    bound: set[str] = set()
    homes: dict[str, str] = {}
    for node in ast.parse((PACKAGE / "__init__.pyi").read_text("utf-8")).body:
        if isinstance(node, ast.ImportFrom):
            homes |= {alias.name: node.module or "" for alias in node.names}
        if isinstance(node, ast.Import | ast.ImportFrom):
            bound |= {(alias.asname or alias.name).split(".")[0] for alias in node.names}
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            bound.add(node.name)
        elif isinstance(node, ast.Assign):
            bound |= {target.id for target in node.targets if isinstance(target, ast.Name)}
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            bound.add(node.target.id)
    clew = importlib.import_module("clew")
    listed: list[str] = clew.__all__
    # Constants, then classes, then functions: the order of ruff's RUF022.
    in_order = sorted(listed, key=lambda name: (not name.isupper(), name[0].islower(), name))
    assert listed == in_order
    assert len(listed) == len(set(listed))
    assert {name for name in listed if not name.startswith("_")} == {
        name for name in bound if not name.startswith("_")
    }
    assert [name for name in listed if not hasattr(clew, name)] == []
    for name, home in homes.items():  # type checkers and Python find the same
        assert getattr(clew, name) is getattr(importlib.import_module(home), name)
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        clew.nothing  # noqa: B018 - that it raises is the matter
    assert {*listed, "__version__"} <= {*dir(clew)}


def test_importing_clew_loads_nothing_of_it() -> None:
    code = "import sys, clew; print('\\n'.join(m for m in sys.modules if m.startswith('clew')))"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.split() == ["clew"]


def test_the_names_of_clew_load_no_provider_and_no_event_loop() -> None:
    code = "import sys; from clew import *; print('\\n'.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    loaded = {name.split(".")[0] for name in done.stdout.split()}
    assert loaded & {*PROVIDERS, "asyncio", "trio"} == set()


def written(folder: Path, files: dict[str, str]) -> list[Path]:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return [folder / name for name in files]


@pytest.mark.parametrize(
    ("file", "text"),
    [
        pytest.param("core/budget.py", "import clew.core.agent", id="up"),
        pytest.param("tools/calc.py", "from ..core.loop import run", id="up, relative"),
        pytest.param("core/budget.py", "from clew.core import agent", id="up, as a name"),
        pytest.param("core/budget.py", "from clew import Agent", id="the package itself"),
        pytest.param("core/budget.py", "def f():\n    import clew.core.agent", id="up, inside"),
        pytest.param("codecs/text.py", "from clew.models import x", id="a sibling part"),
        pytest.param("core/events.py", "import clew.core.errors", id="events and errors"),
        pytest.param("core/events.py", "import anyio", id="events and a library"),
        pytest.param("core/loop.py", "from clew.stores import sqlite", id="the loop and a store"),
        pytest.param("serve/app.py", "import clew.cli", id="the cli"),
        pytest.param("serve/viewer/page.py", "import clew.core.loop", id="the viewer and the loop"),
        pytest.param("core/loop.py", "import clew.testing", id="testing from below"),
        pytest.param("core/helpers.py", "", id="no layer"),
        pytest.param("core/budget.py", "import clew.core.helpers", id="a room without layer"),
    ],
)
def test_what_points_up_is_found(tmp_path: Path, file: str, text: str) -> None:
    (path, *_) = written(tmp_path, {file: text, "core/agent.py": "", "core/loop.py": text})
    assert list(layering(path, tmp_path))


@pytest.mark.parametrize(
    ("file", "text"),
    [
        (
            "core/loop.py",
            "from clew.core.agent import Agent\nfrom clew.context import View\nimport anyio",
        ),
        ("tools/docs/index.py", "from clew.tools.schema import x\nfrom . import y\nimport sqlite3"),
        ("core/replay.py", "from clew.core.loop import run"),
        ("core/events.py", "import msgspec\nfrom typing import Any"),
        ("__init__.py", "from clew.api import run\nfrom clew.core import agent"),
        (
            "cli/main.py",
            "from clew import Agent\nfrom clew.core import agent\nimport clew.cli.show",
        ),
        ("__main__.py", "from clew.cli import main"),
    ],
)
def test_what_points_down_is_fine(tmp_path: Path, file: str, text: str) -> None:
    written(tmp_path, {"core/agent.py": "", file: text})
    assert list(layering(tmp_path / file, tmp_path)) == []


@pytest.mark.parametrize(
    "text",
    [
        "def f():\n    import json",
        "class A:\n    async def f(self):\n        if self:\n            from clew import agent",
        "import importlib\nx = importlib.import_module('clew.agent')",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import json",
        "import typing\nif typing.TYPE_CHECKING:\n    import json",
    ],
)
def test_hidden_imports_are_found(tmp_path: Path, text: str) -> None:
    (path,) = written(tmp_path, {"core/budget.py": text})
    assert list(hidden_imports(path, tmp_path))


def test_what_is_too_long_is_found(tmp_path: Path) -> None:
    function = "def f():\n" + "    x\n" * 50
    paths = written(tmp_path, {"core/loop.py": "x\n" * 200, "b.py": function})
    assert [len(list(sizes(path, tmp_path))) for path in paths] == [1, 1]
    function = function[:-6]
    paths = written(tmp_path, {"core/loop.py": "x\n" * 199, "b.py": function})
    assert [len(list(sizes(path, tmp_path))) for path in paths] == [0, 0]


@pytest.mark.parametrize(
    ("comment", "fine"),
    [
        ("noqa: S101", False),
        ("noqa", False),
        ("noqa: S101 - it is a test", True),
        ("type: ignore[arg-type]", False),
        ("type: ignore[arg-type]  # the point of the test", True),
        ("type: ignore[misc]  # noqa: S101", False),
        ("pyright: ignore[reportFoo]", False),
        ("pyright: ignore[reportFoo] the stub is wrong", True),
        ("pragma: no cover", False),
        ("pragma: no cover - only on Windows", True),
    ],
)
def test_waivers_without_a_reason_are_found(comment: str, fine: bool) -> None:
    assert (list(waivers(f"x = 1  # {comment}\n")) == []) is fine
    assert list(waivers(f'x = "# {comment}"\n')) == []


@pytest.mark.parametrize("folder", ["home/someone", "Users/someone", "root/x", "work/main"])
def test_paths_of_a_machine_are_found(folder: str) -> None:
    assert list(leaks(f"see /{folder}"))
    assert list(leaks(f"see https://example.org/{folder} and docs/{folder}")) == []


@pytest.mark.parametrize("text", ["https://pypi.example/{}/x", "pip --{}", "{} = x"])
def test_addresses_of_an_index_are_found(text: str) -> None:
    assert list(leaks(text.format("simple" if "/" in text else "index+url".replace("+", "-"))))
