"""The architecture, held by tests: layers, sizes, public names, and what no file may say.

Each rule is a function from source to complaints, and is shown here to complain.
"""

import ast
import graphlib
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

# One folder, one floor: imports point down to a lower floor. Rooms of one floor are no neighbours.
# What a room needs beyond that, through others too, is in closures.txt.
FLOORS = (
    {"concurrency"},
    {"support"},  # with concurrency, the ground
    {"core"},  # the loop, the record, and the interfaces of every part
    {"citations", "codecs", "deps", "guards", "models", "screens", "stores"},  # parts
    {"context", "evidence", "otel", "tools"},
    {"memory", "toolbox"},  # tools that ship
    {"agent"},  # the agent that people write, and what is done with one
    {"agent_files", "conversations", "testing"},
    {"workers"},
    {"operations", "retention"},
    {"clew"},  # the doors: `clew` and `clew.interfaces`
    {"cli"},
)
LAYERS = {name: floor for floor, names in enumerate(FLOORS) for name in names}
NEVER = {  # who may not import what, where the floors alone would let them
    "core.loop": {"core.replay", "core.fork"},
}
DOORS = {"", "interfaces", "sync", "__main__"}
SERIALISER = "msgspec"
VOCABULARY = {  # the values of the record: they know nothing but their serialiser
    f"clew.core.{name}"
    for name in (
        "actions", "codes", "contents", "entries", "events", "specs", "values", "verdicts",
    )
}  # fmt: skip
BY_NAME = {  # who may import a module whose name is data
    "__init__.py": "a public name is loaded when it is first used",
    "codecs/__init__.py": "a codec is imported when an agent uses it",
    "models/batched.py": "batches stand on an optional extra, and few models are asked in them",
    "models/resolve.py": "what makes a model stands on an optional extra, and its row names it",
    "support/entry_points.py": "what reads entry points is dear to import",
    "agent_files/imports.py": "a user's own part is named module:name; tools of an optional extra",
    "cli/doctor_packages.py": "whether a package can be imported is found by doing so",
    "cli/offers.py": "what Tab offers needs agents and stores, which few commands do",
    "cli/groups.py": "a command, and an optional extra, is imported when it is used",
    "models/prices.py": "the list of prices is big, comes with providers, and is for their models",
    "stores/__init__.py": "a store, and platformdirs, is imported when it is used",
    "toolbox/docs/extract.py": "what reads PDF and HTML is an optional extra too",
    "tools/process.py": "a killable tool is named module:function and loaded in its own process",
    "support/pydantic_classes.py": "pydantic is an optional extra, for types that only it reads",
    "tools/signature.py": "what reads docstrings is dear to import, and for who makes a tool",
    "tools/retrieval/load_extra.py": "ranking tools by meaning stands on an optional extra",
}
LONG: dict[str, str] = {}  # functions over 50 lines, with the reason
PROVIDERS = {
    "anthropic", "dbos", "google", "httpx", "httpx2", "mcp", "openai", "opentelemetry", "psycopg",
    "pydantic", "ray", "temporalio",
}  # fmt: skip


def room(module: str) -> str:
    """`clew.toolbox.docs.index` is in the room `toolbox`; a file beside the rooms is a door."""
    name = module.partition(".")[2].partition(".")[0]
    return "clew" if name in DOORS else name


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
        yield f"{me} stands on no floor: give its folder one in tests/test_layers.py"
        return
    forbidden = NEVER.get(me.removeprefix("clew."), set())
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        for it in imported(node, path, package):
            outside = it.split(".")[0] != "clew"
            if me in VOCABULARY and outside:
                allowed = {SERIALISER, *sys.stdlib_module_names}
                if it.split(".")[0] not in allowed:
                    yield f"{me} imports {it}: it may import only its serialiser"
            if it.removeprefix("clew.") in forbidden:
                yield f"{me} imports {it}"
            if outside or room(it) == room(me) or me == "clew.__main__":
                continue
            theirs = LAYERS.get(room(it), 99)
            if theirs >= mine:
                yield f"{me} (floor {mine}) imports {it} (floor {theirs})"


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


def test_there_are_few_floors() -> None:
    assert len(FLOORS) <= 12


def test_no_module_needs_itself_through_others() -> None:
    paths = {name_of(path, PACKAGE): path for path in PACKAGE.rglob("*.py")}
    edges = {
        name: {
            it
            for node in ast.walk(ast.parse(path.read_text("utf-8")))
            for it in imported(node, path, PACKAGE)
            if it in paths and not f"{name}.".startswith(f"{it}.")
        }
        for name, path in paths.items()
    }
    graphlib.TopologicalSorter(edges).prepare()  # raises CycleError, which names them


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
        pytest.param("core/budget.py", "import clew.agent.agent", id="up"),
        pytest.param("tools/calc.py", "from ..agent.runner import start", id="up, relative"),
        pytest.param("core/budget.py", "from clew.agent import agent", id="up, as a name"),
        pytest.param("core/budget.py", "from clew import Agent", id="the package itself"),
        pytest.param("core/budget.py", "def f():\n    import clew.agent.agent", id="up, inside"),
        pytest.param("codecs/text.py", "from clew.models import x", id="a sibling part"),
        pytest.param("core/events.py", "import anyio", id="events and a library"),
        pytest.param("core/loop.py", "from clew.stores import sqlite", id="the loop and a store"),
        pytest.param("serve/app.py", "import clew.cli", id="the cli"),
        pytest.param("core/loop.py", "import clew.testing", id="testing from below"),
        pytest.param("core/loop.py", "from clew.core import replay", id="what stands on the loop"),
        pytest.param("helpers/texts.py", "", id="no floor"),
        pytest.param("core/budget.py", "import clew.helpers", id="a room without floor"),
    ],
)
def test_what_points_up_is_found(tmp_path: Path, file: str, text: str) -> None:
    (path, *_) = written(
        tmp_path, {file: text, "core/loop.py": text, "core/replay.py": "", "agent/agent.py": ""}
    )
    assert list(layering(path, tmp_path))


@pytest.mark.parametrize(
    ("file", "text"),
    [
        (
            "agent/api.py",
            "from clew.core.loop import run\nfrom clew.context import View\nimport anyio",
        ),
        ("support/parts.py", "from clew.concurrency.tasks import run_with_deadline"),
        ("tools/docs/index.py", "from clew.tools.schema import x\nfrom . import y\nimport sqlite3"),
        ("core/replay.py", "from clew.core.loop import run"),
        ("core/events.py", "import msgspec\nfrom typing import Any"),
        ("__init__.py", "from clew.agent.api import run\nfrom clew.core import loop"),
        (
            "cli/main.py",
            "from clew import Agent\nfrom clew.core import loop\nimport clew.cli.show",
        ),
        ("__main__.py", "from clew.cli import main"),
    ],
)
def test_what_points_down_is_fine(tmp_path: Path, file: str, text: str) -> None:
    written(tmp_path, {"core/loop.py": "", file: text})
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
