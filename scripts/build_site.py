"""Build the site of the documentation, offline: `make docs`; it lies in build/site.

README.md is the first page; the others come from docs/ and lab/reports, and one from each further
package. The API reference has one page for each public namespace (tests/public_names.txt), made
from its docstrings. Zensical builds in strict mode: a broken link, or a page that the navigation
below lacks, fails the build.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).parent.parent
BUILD: Final = ROOT / "build"
PAGES: Final = BUILD / "pages"
API: Final = BUILD / "site" / "api"
EXTENSION: Final = Path(__file__).with_name("reference_names.py")
REPORTS: Final = ROOT / "lab" / "reports"
MEASURED: Final = PAGES / "measured"

NAVIGATION: Final = {
    "Tutorial": ["index", "install", "tour", "tutorial"],
    "How-to": {
        "Build": ["tools", "models", "safety", "evidence", "strategies", "mcp"],
        "Run": ["long-runs", "streams", "conversations", "workers", "evaluation"],
    },
    "Reference": {
        "Command line and agent files": ["command-line"],
        "Errors": ["errors"],
        "Packages": [
            "packages/clew",
            *("packages/clew-strategies", "packages/clew-code", "packages/clew-web"),
            *("packages/clew-mcp", "packages/clew-acp", "packages/clew-evals"),
            *("packages/clew-cluster", "packages/clew-testing", "packages/clew-local"),
            "packages/clew-serve",
        ],
    },
    "Explanation": ["architecture"],
}
"""The pages in four groups: to learn, to do something, to look something up, to understand.

`navigation` adds the API reference, the reports and the decisions.
"""

LINK: Final = re.compile(
    r"^ *```.*?^ *```$"  # a block, in which nothing is one
    r"|(?<!!)\[(?P<label>[^\[\]]+)\]\((?!\w+:|#)(?P<address>[^()#\s]+)(?P<mark>#[^()\s]*)?\)"
    r"|`[^`\n]+`",
    re.MULTILINE | re.DOTALL,
)
"""A link to a page or file, beside code that may look like one."""

ENTRY: Final = re.compile(r"""<h\d\b[^>]*\sid=["']?([\w.]+)""")
"""The name that an entry of the reference is for."""


def public_names() -> list[str]:
    """All public names."""
    return (ROOT / "lab/tests" / "public_names.txt").read_text("utf-8").split()


def namespaces() -> list[str]:
    """All that are public, in order."""
    return sorted({name.rpartition(".")[0] for name in public_names()})


def without_entry(names: Iterable[str], api: Path) -> list[str]:
    """The public names that the built reference in a folder tells nothing of.

    A namespace, as `clew.sync`, has a page of its own.
    """
    pages = {page.parent.name: page.read_text("utf-8") for page in api.glob("*/index.html")}
    entries = {entry for text in pages.values() for entry in ENTRY.findall(text)}
    return [name for name in names if name not in entries and name not in pages]


def decisions() -> list[str]:
    """The notes of docs/decisions, in order, without their endings."""
    return [f"decisions/{path.stem}" for path in sorted((ROOT / "docs/decisions").glob("*.md"))]


def houses() -> dict[str, Path]:
    """The pages of the packages, as the navigation names them."""
    ordered = sorted(ROOT.glob("packages/*/README.md"))
    return {f"packages/{path.parent.name}": path for path in ordered}


def reports() -> list[str]:
    """The reports of lab/reports, the list of all figures first, without their endings."""
    names = sorted(path.stem for path in REPORTS.glob("*.md"))
    return [f"measured/{name}" for name in sorted(names, key=lambda name: name != "README")]


def navigation() -> list[dict[str, Any]]:
    """The whole of it, as Zensical reads it."""
    api = [{name: f"api/{name}.md"} for name in namespaces()]

    def entries(part: Any) -> list[Any]:
        if isinstance(part, dict):
            return [{name: entries(inner)} for name, inner in part.items()]
        return [f"{page}.md" for page in part]

    documents = [{name: entries(part)} for name, part in NAVIGATION.items()]
    for section in documents:
        section.get("Reference", []).append({"Python": api})
        section.get("Explanation", []).append({"Measured": entries(reports())})
        section.get("Explanation", []).append({"Decisions": entries(decisions())})
    return documents


def lead(text: str, page: Path, source: Path) -> str:
    """The text with its links as they lead from a page of the site.

    A link to a file or folder of the repository that is no page becomes its text. What stands
    behind the language of a block is for the tests, and goes.
    """

    def turned(match: re.Match[str]) -> str:
        label, address, mark = match["label"], match["address"], match["mark"] or ""
        if not address:
            return match[0]
        target = (source.parent / address).resolve()
        if target in {ROOT / "README.md", ROOT / "docs" / "README.md"}:
            path = PAGES / "index.md"  # beside the navigation, which is the list of pages
        elif target.is_relative_to(ROOT / "docs") and target.is_file():
            path = PAGES / target.relative_to(ROOT / "docs")
        elif target.is_relative_to(REPORTS) and target.suffix in {".md", ".svg", ".png"}:
            path = MEASURED / target.relative_to(REPORTS)
        elif target == ROOT / "docs" / "decisions":
            path = PAGES / f"{decisions()[0]}.md"
        elif target in houses().values():
            path = PAGES / "packages" / f"{target.parent.name}.md"
        else:
            return label
        return f"[{label}]({Path(os.path.relpath(path, page.parent)).as_posix()}{mark})"

    return LINK.sub(turned, re.sub(r"^([ >]*```\w+) .*$", r"\1", text, flags=re.MULTILINE))


def lay_out() -> None:
    """Put all pages where Zensical finds them."""
    shutil.rmtree(PAGES, ignore_errors=True)
    shutil.copytree(ROOT / "docs", PAGES, ignore=shutil.ignore_patterns("README.md"))
    sources = {PAGES / "index.md": ROOT / "README.md"} | {
        page: ROOT / "docs" / page.relative_to(PAGES) for page in PAGES.rglob("*.md")
    }
    sources |= {PAGES / f"{name}.md": path for name, path in houses().items()}
    (PAGES / "packages").mkdir()
    shutil.copytree(REPORTS, MEASURED, ignore=shutil.ignore_patterns("outcomes"))
    sources |= {page: REPORTS / page.relative_to(MEASURED) for page in MEASURED.rglob("*.md")}
    for page, source in sources.items():
        page.write_text(lead(source.read_text("utf-8"), page, source), "utf-8")
    (PAGES / "api").mkdir()
    for name in namespaces():
        (PAGES / "api" / f"{name}.md").write_text(f"# {name}\n\n::: {name}\n", "utf-8")


def settings() -> Iterator[str]:
    """Zensical's settings, in TOML, of which all values are JSON too."""
    python = {
        "heading_level": 2,
        "members_order": "__all__",
        "show_root_toc_entry": False,
        "show_root_heading": False,
        "show_source": False,
        "show_labels": False,
        "show_bases": False,
        "show_if_no_docstring": True,
        "separate_signature": True,
        "show_signature_annotations": True,
        "filters": ["!^_"],
        "extensions": [str(EXTENSION)],
    }
    yield "[project]"
    yield 'site_name = "clew"\nsite_description = "A ReAct runtime for Python"'
    yield f'docs_dir = "pages"\nsite_dir = "site"\nnav = {inline(navigation())}'
    yield "[project.theme]\nfont = false"
    yield "[project.plugins.mkdocstrings.handlers.python]"
    yield f"paths = {json.dumps(sorted(map(str, ROOT.glob('packages/*/src'))))}"
    yield "[project.plugins.mkdocstrings.handlers.python.options]"
    yield from (f"{name} = {json.dumps(value)}" for name, value in python.items())


def inline(value: Any) -> str:
    """A value as TOML writes it in a line."""
    if isinstance(value, dict):
        return f"{{{', '.join(f'{json.dumps(k)} = {inline(v)}' for k, v in value.items())}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(inline, value))}]"
    return json.dumps(value)


def pages_of(part: Any) -> list[str]:
    """The pages of a part of the navigation, in order."""
    if isinstance(part, dict):
        return [page for inner in part.values() for page in pages_of(inner)]
    return list(part)


def main() -> int:
    """Lay out the pages and build; the exit status is Zensical's, or 1 if a name has no entry."""
    lay_out()
    (BUILD / "zensical.toml").write_text("\n".join(settings()) + "\n", "utf-8")
    command = [str(Path(sys.executable).with_name("zensical")), "build", "--strict", "--clean"]
    if code := subprocess.run(command, cwd=BUILD, check=False).returncode:
        return code
    if lacking := without_entry(public_names(), API):
        print(f"no entry in the API reference: {', '.join(lacking)}", file=sys.stderr)
    return bool(lacking)


if __name__ == "__main__":
    sys.exit(main())
