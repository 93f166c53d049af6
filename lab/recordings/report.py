"""`lab/reports/evidence.md`, from the parts that were measured."""

from collections.abc import Iterator, Sequence
from typing import Final

from recordings.part import Figure, Part

MAX_CASES: Final = 500
"""So many single cases of a part are listed; the rest are counted."""

INTRODUCTION: Final = """\
# Evidence: tested against recordings of real models

What real models wrote goes through clew's own code, and the outcome is held against the recording.
`make evidence` writes this report, and fails if a figure misses its aim. It needs recordings of
real models, which are not part of the project: `CLEW_RECORDINGS` names their folder. Without them,
the tests run the same code on small fixtures.

**Limits.** The models wrote their replies to other prompts than clew's, and are older than today's.
"""


def page(parts: Sequence[Part], measured: str = "") -> str:
    """The page in Markdown: the findings, each part with its figures, the single cases.

    `measured` says when and where.
    """
    cases = [cases_of(part) for part in parts if part.misses]
    heading = ["## Single cases", "", "What a figure counts as odd or missed, one by one.", ""]
    return "\n".join(
        [
            INTRODUCTION,
            *([f"Measured: {measured}.", ""] if measured else ()),
            *summary(parts),
            "![Tools found by requests in everyday words](images/retrieval.svg)\n",
            *(section(part) for part in parts),
            *(heading if cases else ()),
            *cases,
        ]
    )


def summary(parts: Sequence[Part]) -> Iterator[str]:
    """The findings as a table."""
    yield from ("## Findings", "", "| part | finding | figures | aims met |", "|---|---|---|---|")
    for part in parts:
        met, of = part.aims
        leads = [figure for figure in part.figures if figure.what in part.lead]
        text = "<br>".join(_inert(f"{each.got} of {each.of}: {each.what}") for each in leads)
        finding = (part.finding if part.met else "") or "see below"
        word = f"{met} of {of}" if met == of else f"**{met} of {of}**"
        title = part.title.partition(":")[0]
        yield f"| [{title}](#{_anchor(part.title)}) | {finding} | {text} | {word} |"
    yield ""


def _anchor(title: str) -> str:
    """Where a heading is linked to."""
    plain = "".join(sign for sign in title.lower() if sign.isalnum() or sign in " -")
    return plain.replace(" ", "-")


def section(part: Part) -> str:
    """A part of the page."""
    lines = [f"## {part.title}", "", part.text.strip(), ""]
    lines += ["| figure | measured | on | aim | |", "|---|---|---|---|---|"]
    lines += [_row(figure) for figure in part.figures]
    return "\n".join([*lines, ""])


def cases_of(part: Part) -> str:
    """The single cases of a part, folded."""
    name = part.title.partition(":")[0]
    lines = [f"<details><summary>{name}: {len(part.misses)}</summary>", ""]
    lines += [f"- {_inert(case)}" for case in part.misses[:MAX_CASES]]
    if (more := len(part.misses) - MAX_CASES) > 0:
        lines.append(f"- and {more} more")
    return "\n".join([*lines, "", "</details>", ""])


def _row(figure: Figure) -> str:
    word = "" if not figure.aim else "met" if figure.met else "**missed**"
    cells = (figure.what, figure.got, figure.of, figure.aim, word)
    return f"| {' | '.join(_inert(cell) if cell is not word else cell for cell in cells)} |"


def _inert(text: str) -> str:
    """Text of a model as it may stand in a line of Markdown."""
    plain = " ".join(text.split())
    for sign in "\\`*_|<>[]":
        plain = plain.replace(sign, f"\\{sign}" if sign != "<" else "&lt;")
    return plain


def failures(parts: Sequence[Part]) -> Iterator[str]:
    """The figures that miss their aim, in a line each."""
    for part in parts:
        for figure in part.figures:
            if not figure.met:
                yield f"{part.title}: {figure.what}: {figure.got} of {figure.of} ({figure.aim})"
