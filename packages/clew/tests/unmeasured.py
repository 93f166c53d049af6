"""What programs are started with whose lines no coverage is asked of: they take half the time."""

import os


def environment() -> dict[str, str]:
    """That of this process, without what measures coverage in processes that tests start."""
    return {name: text for name, text in os.environ.items() if not name.startswith("COVERAGE_")}
