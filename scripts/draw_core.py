"""Draw `docs/images/core.svg`: the files of the core, each above those that it imports.

    python scripts/draw_core.py

An arrow that follows from others is left out. `tests/test_layers.py` holds the picture to the tree.
"""

import ast
from pathlib import Path

ROOT = Path(__file__).parent.parent
CORE = ROOT / "packages" / "clew" / "src" / "clew" / "core"
PICTURE = ROOT / "docs" / "images" / "core.svg"
FIRST = (  # the files of the first reading, in docs/architecture.md
    "events", "trajectory", "journal", "moves", "loop", "thought", "policy", "execute",
    "observations", "engine",
)  # fmt: skip
WIDTH, HEIGHT, GAP_X, GAP_Y, EDGE = 118, 30, 16, 34, 20
STYLE = """
text { font: 13px sans-serif; text-anchor: middle; dominant-baseline: middle; fill: #222 }
rect { fill: #f4f1ea; stroke: #998e7a; rx: 4px }
.first rect { fill: #dbe9f6; stroke: #4a7ba6 }
path { fill: none; stroke: #b9b2a5; stroke-width: 1 }
@media (prefers-color-scheme: dark) {
  text { fill: #eee } rect { fill: #3a372f; stroke: #8c836f } path { stroke: #6d675a }
  .first rect { fill: #24405a; stroke: #6fa3d0 }
}
"""


def imports() -> dict[str, set[str]]:
    """Which files of the core each of them imports."""
    fields: dict[str, set[str]] = {}
    for path in sorted(CORE.glob("[a-z]*.py")):
        nodes = ast.walk(ast.parse(path.read_text("utf-8")))
        names = [node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)]
        fields[path.stem] = {
            name.removeprefix("clew.core.") for name in names if name.startswith("clew.core.")
        }
    return fields


def below(graph: dict[str, set[str]]) -> dict[str, set[str]]:
    """All that each file imports, also through others."""
    fields: dict[str, set[str]] = {}

    def visit(name: str) -> set[str]:
        if name not in fields:
            fields[name] = graph[name].union(*(visit(each) for each in graph[name]))
        return fields[name]

    for name in graph:
        visit(name)
    return fields


def floors(graph: dict[str, set[str]]) -> list[list[str]]:
    """The files by the longest way down from them, those that import nothing first."""
    level: dict[str, int] = {}

    def visit(name: str) -> int:
        if name not in level:
            level[name] = 1 + max((visit(each) for each in graph[name]), default=-1)
        return level[name]

    for name in graph:
        visit(name)
    rows: list[list[str]] = [[] for _ in range(max(level.values()) + 1)]
    for name in sorted(level):
        rows[level[name]].append(name)
    return rows


def centres(rows: list[list[str]], arrows: dict[str, set[str]]) -> dict[str, tuple[float, float]]:
    """Where the middle of each box is: as near as may be above those that it imports."""
    widest = max(len(row) for row in rows)
    x: dict[str, float] = {}
    for row in rows:

        def wish(name: str) -> tuple[float, str]:
            under = [x[each] for each in arrows[name] if each in x]
            return (sum(under) / len(under) if under else widest / 2, name)

        for index, name in enumerate(sorted(row, key=wish)):
            x[name] = (widest - len(row)) / 2 + index
    height = len(rows)
    return {
        name: (
            EDGE + WIDTH / 2 + x[name] * (WIDTH + GAP_X),
            EDGE + HEIGHT / 2 + (height - 1 - floor) * (HEIGHT + GAP_Y),
        )
        for floor, row in enumerate(rows)
        for name in row
    }


def drawn() -> str:
    """The picture."""
    graph = imports()
    graph_below = below(graph)
    arrows = {
        name: {one for one in near if not any(one in graph_below[other] for other in near - {one})}
        for name, near in graph.items()
    }
    rows = floors(graph)
    at = centres(rows, arrows)
    wide = 2 * EDGE + max(len(row) for row in rows) * (WIDTH + GAP_X) - GAP_X
    high = 2 * EDGE + len(rows) * (HEIGHT + GAP_Y) - GAP_Y
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {high}" role="img">',
        "<title>The files of clew.core, each above those that it imports</title>",
        f"<style>{STYLE}</style>",
    ]
    for name in sorted(arrows):
        for other in sorted(arrows[name]):
            (x1, y1), (x2, y2) = at[name], at[other]
            y1, y2 = y1 + HEIGHT / 2, y2 - HEIGHT / 2
            middle = (y1 + y2) / 2
            lines.append(
                f'<path d="M{x1:g} {y1:g}C{x1:g} {middle:g} {x2:g} {middle:g} {x2:g} {y2:g}"/>'
            )
    for name in sorted(at):
        x, y = at[name]
        kind = ' class="first"' if name in FIRST else ""
        corner = f'x="{x - WIDTH / 2:g}" y="{y - HEIGHT / 2:g}"'
        box = f'<rect {corner} width="{WIDTH}" height="{HEIGHT}"/>'
        lines.append(f'<g{kind}>{box}<text x="{x:g}" y="{y:g}">{name}</text></g>')
    return "\n".join([*lines, "</svg>", ""])


if __name__ == "__main__":
    PICTURE.write_text(drawn(), "utf-8")
    print(f"wrote {PICTURE.relative_to(ROOT)}")
