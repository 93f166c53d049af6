"""The manual says the numbers that the code has."""

from pathlib import Path

import pytest

from clew import Limits, Retry
from clew.codecs import json_repair, prompt_texts
from clew.context import call_estimate, variants, view, visible
from clew.core import blobs, budget, observations
from clew.models.http import endpoint
from clew.models.resolve import PROBE
from clew.toolbox import HoldQuestions, real_numbers
from clew.toolbox.calc import DISPLAY_DIGITS, MAX_CHARACTERS, MAX_LEVELS
from clew.toolbox.docs import extract, passages
from clew.tools import process, run_process
from clew_strategies import transcript

ROOT = Path(__file__).parents[2]
NAMES = ("docs/safety.md", "docs/models.md", "packages/clew/README.md")
PAGES = [(ROOT / name).read_text("utf-8") for name in NAMES]
MEBIBYTE = 1024 * 1024


@pytest.mark.parametrize(
    "row",
    [
        f"1 token for {call_estimate.CHARACTERS} characters that came since",
        f"(an attachment: {visible.ATTACHED:,})",
        f"{call_estimate.ANSWER:,} tokens where none is set",
        f"though it gets {budget.MIN_SECONDS:.0f} second at least",
        f"waits from {Retry().delay} s, doubling, to {Retry().max_delay:.0f} s |",
        f"| retries of a failed call (`Retry.times`) | {Retry().times};",
        f"(`HoldQuestions.max_questions`) | {HoldQuestions().max_questions} questions",
        f"| `calc` | {MAX_CHARACTERS:,} characters, {MAX_LEVELS} levels",
        f"levels, {real_numbers.MAX_DIGITS:,} digits; {DISPLAY_DIGITS} digits shown",
        (
            f"| `docs`: a passage | {passages.MIN_PASSAGE_CHARS} to {passages.MAX_PASSAGE_CHARS:,} "
            "characters |"
        ),
        (
            f"HTML to {extract.MAX_HTML_BYTES // 1_000_000} MB, PDF to "
            f"{extract.MAX_PDF_BYTES // 1_000_000} MB"
        ),
        f"what is kept of what was printed | {process.LIMIT // MEBIBYTE} MiB |",
        f"| a process's time to end after SIGTERM | {run_process.GRACE:.0f} s |",
        f"| `timeout` | {endpoint.TIMEOUT:.0f} s; `CLEW_TIMEOUT` |",
        f"| `total` | {endpoint.TOTAL:.0f} s |",
        f"| `patience` | {endpoint.PATIENCE:.0f} s |",
        f"| `retries` | `Retry(times={endpoint.RETRIES.times})` |",
        f"with delays that grow to {endpoint.RETRIES.max_delay:.0f} s",
        f"looks {PROBE} s for a local server",
        f"goes to a blob | over {blobs.BLOB_BYTES // 1024} KiB |",
        f"{observations.DETAIL_CHARS:,} characters: the first {observations.DETAIL_HEAD:,} and",
        f"over {view.RESTATE_CHARS:,} characters since they were last said; of more than",
        f"{view.RESTATED_CHARS:,} characters the first and the last {view.RESTATED_CHARS // 2}",
        f"its first {variants.FIRST:,} and last {variants.LAST:,} characters",
        f"(text formats) | {prompt_texts.FAULTY_CHARS} characters |",
        f"in text formats | {json_repair.DEPTH} levels |",
        f"its first and last {transcript.MAX_CHARS // 2:,} characters",
        f"| `steps` | {Limits().steps} |",
    ],
)
def test_the_manual_says(row: str) -> None:
    assert any(row in page for page in PAGES)
