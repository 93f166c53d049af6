"""The environments of the scripts of other frameworks, and tables beside clew's."""

import argparse
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

from live.others.systems import ENVIRONMENTS, System, python_of, versions
from live.tables import table

CLEW: Final = "clew"
SCRIPTS: Final = {
    "Pydantic AI": System(
        "Pydantic AI",
        (
            "pydantic-ai-slim[openai]==2.62.0",
            "pydantic-ai-harness",
            "pydantic-evals==2.62.0",
            "pytest",
        ),
        "research_pydantic_ai",
    ),
    "LangGraph": System(
        "LangGraph",
        (
            *("langgraph", "langchain", "langchain-openai", "langgraph-checkpoint-sqlite"),
            *("langsmith", "genai-prices", "pytest"),
        ),
        "research_langgraph",
    ),
}


def print_table(situations: Iterable[str], played: Callable[[Path, str], list[str]]) -> None:
    """Play the situations with each framework, and print what came of them."""
    options = argparse.ArgumentParser()
    options.add_argument("--environments", type=Path, default=ENVIRONMENTS)
    args = options.parse_args()
    columns = {CLEW: played(Path(sys.executable), CLEW)}
    for name, system in SCRIPTS.items():
        short = system.program.partition("_")[2]
        columns[name] = played(python_of(system, args.environments), short)
    print(*(versions(system, args.environments) for system in SCRIPTS.values()), sep="; ")
    rows = [
        [name, *(column[at] for column in columns.values())] for at, name in enumerate(situations)
    ]
    print(f"\n{table(('situation', *columns), rows)}")
