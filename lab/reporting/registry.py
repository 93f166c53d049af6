"""All reports: for each, what writes its text from the outcomes on file."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

from benchmarks import report as performance
from live import outcomes, page
from live.strategies import outcomes as strategy_outcomes
from live.strategies import page as strategies
from recordings import __main__ as evidence
from reporting import headlines, pages
from security.real import outcomes as real_outcomes
from security.real import page as real_page

WRITTEN: Final[Mapping[str, Callable[[], str]]] = {
    "README": headlines.text,
    "performance": performance.text,
    "evidence": evidence.report_text,
    "live": lambda: page.page(outcomes.read()),
    "security-real": lambda: real_page.text(real_outcomes.read()),
    "strategies": lambda: strategies.text(strategy_outcomes.read()),
    **{path.stem: partial(pages.text, path.stem) for path in sorted(pages.HEADS.glob("*.md"))},
}
"""By their names; a report with a head needs no more than that."""
