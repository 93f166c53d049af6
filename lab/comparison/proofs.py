"""The proofs of the comparison: short programs and commands under headings of the report's head.

Each is run as the examples of the manual are, in a folder of its own.
"""

import re
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import pytest

from reporting.pages import HEADS
from tests.test_documents import ROOT, run_document

HEAD: Final = HEADS / "comparison.md"


def proofs() -> Mapping[str, str]:
    """The text below each heading of the third level, by the heading."""
    _, *sections = re.split(r"^### ", HEAD.read_text("utf-8"), flags=re.MULTILINE)
    named = (section.partition("\n") for section in sections)
    return {name.strip(): text.strip() for name, _, text in named}


def prove(name: str) -> None:
    """Run a proof. Raises what its program raises, or `AssertionError` for other output."""
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        for each in ("docs", "examples"):
            shutil.copytree(ROOT / each, Path(folder) / each)
        patch.chdir(folder)
        patch.setenv("HOME", folder)
        patch.setenv("CLEW_STORE", f"{folder}/.clew")
        page = Path(folder) / "proof.md"
        page.write_text(proofs()[name], "utf-8")
        run_document(page, name, patch)
