"""What the tests and the evaluation of the research script come to in each framework."""

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from comparison.applications.model_server import ModelServer
from comparison.applications.scripts import Script, played_by

CASES: Final = 6


def tests(script: Script, model: ModelServer) -> str:
    """Its tests run without a model."""
    done = script.tested()
    passed = re.search(r"(\d+) passed", done.stdout)
    failed = re.search(r"(\d+) failed", done.stdout)
    counts = [match[0] for match in (passed, failed) if match]
    return f"{', '.join(counts) or 'none ran'}, {len(model.asked)} requests"


def refused(script: Script, model: ModelServer) -> str:
    """The provider refuses one of six cases."""
    model.refuses = "Case 2"
    share, failed, *_ = script.run()
    return f"{share * CASES:.0f} of {CASES} right, {failed} failed"


def refused_again(script: Script, model: ModelServer) -> str:
    """The same, and it is started again when the provider takes that case."""
    refused(script, model)
    model.refuses, before = "", len(model.asked)
    share, *_ = script.run()
    return f"{share * CASES:.0f} of {CASES} right, for {len(model.asked) - before} requests more"


def killed(script: Script, model: ModelServer) -> str:
    """The process dies in the fourth case, and is started again."""
    model.holds = "Case 3"
    process = script.start()
    model.wait()
    process.kill()
    process.communicate()
    model.holds, before = "", len(script.looked_up)
    share, *_ = script.run()
    more = len(script.looked_up) - before
    return f"{share * CASES:.0f} of {CASES} right, for {more} look-ups more"


def sureness(script: Script, model: ModelServer) -> str:
    """What it says of six right answers, by itself."""
    share, _, cost, *interval = script.run()
    low_high = [f" ({low:.0%} to {high:.0%})" for low, high in interval]
    return f"{share:.0%}{''.join(low_high)}, ${cost:.5f}"


SITUATIONS: Final[Mapping[str, Callable[[Script, ModelServer], str]]] = {
    "its two tests, without a network": tests,
    "six cases, one of which the provider refuses": refused,
    "the same, started again once it is taken": refused_again,
    "killed in the fourth case, started again": killed,
    "what is told of six right answers": sureness,
}


def played(python: Path, name: str) -> list[str]:
    """What came of each situation, each in a folder of its own."""
    return played_by(python, f"tested_{name}", SITUATIONS.values())


if __name__ == "__main__":
    from comparison.applications.others import print_table

    print_table(SITUATIONS, played)
