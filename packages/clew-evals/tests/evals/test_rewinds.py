"""Rewinds are settings of a matrix."""

from pathlib import Path

from clew import (
    Rewinds,
)
from clew_evals import read_matrix


def test_they_are_settings_of_a_matrix(tmp_path: Path) -> None:
    (tmp_path / "cases.jsonl").write_text('{"id": "a", "question": "2 + 2?", "gold": "4"}\n')
    path = tmp_path / "matrix.toml"
    path.write_text(
        'dataset = "cases.jsonl"\nmodels = ["offline"]\n[[configurations]]\nname = "as usual"\n'
        '[[configurations]]\nname = "goes back"\nset.rewinds.rejected = 1\n'
    )
    rewinds = [one.agent.context.rewinds for one in read_matrix(path).configurations]
    assert rewinds == [None, Rewinds(rejected=1)]
