"""What settings about evidence promise: which answers pass the check, and how they are shown."""

import subprocess
import sys
from collections.abc import Iterator
from typing import Any, Final

from tests.matrix.model import Script
from tests.matrix.outcome import Outcome
from tests.matrix.promises import Add, promise

WEAK: Final = "Ann lives in Basel [doc_1]."
HALF: Final = "Ann has 5 letters. Ann lives in Basel [doc_1]."
"""A fact without a citation, beside one that has one."""


def _answer(key: str, claim: str, **table: Any) -> Add:
    """A promise about an agent that finds one passage, and answers with a claim."""
    return promise(
        f"grounded.{key}",
        values={"checks": ["grounded"], "grounded": {key: table[key]}},
        script=Script(acts="passage", answers=(claim,)),
        lax="answers",
    )


@_answer("threshold", WEAK, threshold=0.95)
def threshold(o: Outcome) -> Iterator[str]:
    if o.result.status == "answered" and o.result.answer == WEAK:
        yield "an answer by evidence below the threshold was let through"


@_answer("scope", HALF, scope="paragraph")
def scope(o: Outcome) -> Iterator[str]:
    matches = o.way.name == "react" and o.situation in {"plain", "killed", "replayed"}
    if matches and o.result.answer != HALF:
        yield f"an answer with a citation in its paragraph was rejected: {o.result.answer!r}"


@promise(
    "references",
    values={"references": True},
    script=Script(acts="passage", answers=(WEAK,)),
    lax="answers",
    only=lambda way, situation: way.name == "react" and situation == "plain",
)
def references(o: Outcome) -> Iterator[str]:
    file = str(o.folder / "agent.toml")
    asked = [sys.executable, "-m", "clew.cli", "ask", "Please send more.", "--agent", file]
    done = subprocess.run(asked, capture_output=True, text=True, check=False)
    if "Ann lives in Basel [1]" not in done.stdout or "[1] a.md" not in done.stdout:
        yield f"the command line shows no references: {done.stdout}{done.stderr}"
