"""What is public: these namespaces, and in each the names of its `__all__`. All else is private.

`tests/public_names.txt` freezes both. Where a name comes or goes on purpose, write the list anew:

    cd lab && PYTHONPATH=.:../packages/clew python -m tests.test_public
"""

import ast
import importlib
import importlib.util
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.test_documents import DOCUMENTS, blocks
from tests.test_layers import HOUSE, ROOT

LIST = Path(__file__).with_name("public_names.txt")
NAMES = LIST.read_text("utf-8").split()
NAMESPACES = sorted({"clew", *(name.rpartition(".")[0] for name in NAMES)})
INSIDE = {"architecture.md", *(path.name for path in (ROOT / "docs" / "decisions").iterdir())}
PAGES = [path for path in DOCUMENTS if path.name not in INSIDE]
PROGRAMS = sorted((ROOT / "examples").rglob("*.py"))
COMMANDS = sorted((HOUSE / "src" / "clew" / "cli").glob("*.py"))
OUR_SUPPORT = {  # what the command line imports all the same: none of it works on runs
    "clew.concurrency.threads": "whether a thread is still at work",
    "clew.support.entry_points": "what other packages add, and whose counts",
    "clew.support.error_text": "what an error says, on one line",
    "clew.support.extras": "which extra brings what is missing",
    "clew.support.nearest_name": "the hint at the right name for a wrong one",
    "clew.support.private_files": "files that nobody else may read",
    "clew.support.run_ids": "what people may name a run",
    "clew.support.printable": "texts in which nothing hides",
    "clew.support.proxies": "what the environment says of proxies",
    "clew.support.short_text": "texts on one line, and cut",
    "clew.support.json_values": "a text, or a value as JSON",
    "clew.support.street": "the other packages of clew",
    "clew.support.wings": "the table of what other packages add",
}
EXTRAS = {  # the namespaces that stand on an extra: what it brings, and its name
    "clew_evals.page": ("jinja2", "reports"),
    "clew_evals.tables": ("numpy", "reports"),
    "clew.models.anthropic.messages": ("anthropic", "anthropic"),
    "clew.models.batches": ("httpx2", "openai"),
    "clew.models.gemini.model": ("google.genai", "google"),
    "clew.models.openai.chat": ("openai", "openai"),
    "clew.models.openai.completions": ("openai", "openai"),
    "clew.models.openai.responses": ("openai", "openai"),
    "clew.otel": ("opentelemetry", "otel"),
    "clew.otel.send": ("opentelemetry", "otel"),
    "clew.otel.telemetry": ("opentelemetry", "otel"),
    "clew_cluster.postgres": ("psycopg", "postgres"),
    "clew_cluster.dbos": ("dbos", "dbos"),
    "clew_cluster.ray": ("ray", "ray"),
    "clew_cluster.temporal": ("temporalio", "temporal"),
}
OF_DEPENDENCIES = {  # what an extra of clew brings, and what another package of clew requires too
    "clew_acp": ["opentelemetry"],  # its API, which the SDK uses where it is installed
    "clew_local": ["httpx2", "openai"],  # it speaks the wire format of llama.cpp, which is OpenAI's
    "clew_mcp.serve": ["httpx2", "opentelemetry"],  # its API, without an SDK, which `mcp` requires
    "clew_serve": ["jinja2"],  # it writes pages
    "clew_web": ["httpx2"],  # it fetches pages
}


def public_names() -> list[str]:
    """All names as they are now, by namespace."""
    modules = {name: importlib.import_module(name) for name in NAMESPACES}
    return [f"{module}.{name}" for module, it in modules.items() for name in sorted(it.__all__)]


def private_imports(source: str, known: set[str]) -> Iterator[str]:
    """What a program imports of clew that is not in the list."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        yield from (
            name
            for name in names
            if name.partition(".")[0].startswith("clew") and name not in known
        )


def private_words(text: str, known: set[str]) -> Iterator[str]:
    """What a text speaks of, by the names of its modules, that is not in the list."""
    for name in re.findall(r"(?<![\w./-])clew(?:_[a-z]+)?(?:\.[A-Za-z_]\w*)+", text):
        parts = name.split(".")
        if not is_module(parts[0]) or not is_module(".".join(parts[:2])):
            continue  # such as the attribute of a span, or a file
        if not any(".".join(parts[:many]) in known for many in range(2, len(parts) + 1)):
            yield name


def is_module(name: str) -> bool:
    """Whether there is a module of that name."""
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:  # what it would be in is no package
        return False


KNOWN = {*NAMES, *NAMESPACES}


def test_the_public_names_are_those_of_the_list() -> None:
    assert public_names() == NAMES


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_what_a_document_imports_is_public(path: Path) -> None:
    python = [block for block in blocks(path.read_text("utf-8")) if block.language == "python"]
    assert [name for block in python for name in private_imports(block.text, KNOWN)] == []


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_what_a_page_speaks_of_is_public(path: Path) -> None:
    assert list(private_words(path.read_text("utf-8"), KNOWN)) == []


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.name)
def test_what_an_example_imports_is_public(path: Path) -> None:
    assert list(private_imports(path.read_text("utf-8"), KNOWN)) == []


@pytest.mark.parametrize("path", COMMANDS, ids=lambda path: path.name)
def test_what_the_command_line_imports_is_public_too(path: Path) -> None:
    private = private_imports(path.read_text("utf-8"), {*KNOWN, "clew.__version__"})
    outside = [name for name in private if not name.startswith(("clew.cli", *OUR_SUPPORT))]
    assert outside == []


@pytest.mark.parametrize("path", COMMANDS, ids=lambda path: path.name)
def test_what_the_command_line_imports_by_a_name_in_text_is_public_too(path: Path) -> None:
    texts = [
        node.value
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]
    private = [name for text in texts for name in private_words(text, KNOWN)]
    assert [name for name in private if not name.startswith("clew.cli")] == []


@pytest.mark.parametrize(
    ("source", "private"),
    [
        ("from clew import Agent, tool\nimport clew.toolbox.docs, anyio", []),
        ("from clew.codecs import prompt_texts", []),
        ("from clew.agent.agent import Agent", ["clew.agent.agent.Agent"]),
        ("def f():\n    import clew.core", ["clew.core"]),
        ("from clew import core as inner", ["clew.core"]),
        ("from clew.testing import *", ["clew.testing.*"]),
    ],
)
def test_private_imports_are_found(source: str, private: list[str]) -> None:
    assert list(private_imports(source, KNOWN)) == private


def test_private_words_are_found() -> None:
    text = "`clew.status`, clew.core.loop, clew.testing.ScriptedModel and x/clew.core"
    assert list(private_words(text, KNOWN)) == ["clew.core.loop"]


@pytest.mark.parametrize("namespace", EXTRAS)
def test_without_its_extra_a_namespace_says_in_a_line_what_to_install(namespace: str) -> None:
    module, extra = EXTRAS[namespace]
    code = f"import sys; sys.modules[{module!r}] = None; import {namespace}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    last = done.stderr.splitlines()[-1]
    assert re.fullmatch(rf"\w*Error: .* is missing: run pip install .*\[{extra}\]'", last)


@pytest.mark.parametrize("namespace", sorted({*NAMESPACES} - {*EXTRAS}))
def test_no_other_namespace_loads_what_an_extra_brings(namespace: str) -> None:
    brought = [*(module for module, _ in EXTRAS.values()), "opentelemetry.sdk"]
    code = f"import sys, {namespace}; print(sorted({{*{brought!r}}} & {{*sys.modules}}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ast.literal_eval(done.stdout) == OF_DEPENDENCIES.get(namespace, [])


if __name__ == "__main__":
    LIST.write_text("\n".join(public_names()) + "\n", "utf-8")
