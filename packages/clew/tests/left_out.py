"""Says in the last line of the output which tests a machine leaves out for what it lacks."""

import pytest

WORDS = "browser tests left out"
"""How the reason begins of a test that is skipped for want of a browser."""


def pytest_unconfigure(config: pytest.Config) -> None:
    """Write the reason last, where nobody misses it."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None or hasattr(config, "workerinput"):  # a worker's reports are told by another
        return
    skipped = (str(each.longrepr) for each in reporter.stats.get("skipped", ()))
    reason = next((text[text.index(WORDS) :] for text in skipped if WORDS in text), "")
    if reason:
        reporter.write_line(reason.strip("')"))
