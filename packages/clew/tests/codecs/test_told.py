"""What a model is told in every format, and what its reply is held to, is what stands on file."""

import pytest

from tests.codecs import told


@pytest.mark.parametrize("name", told.FILES)
def test_a_format_tells_what_its_file_says(name: str) -> None:
    """What changes is read in the difference: `python -m tests.codecs.told` writes the files."""
    assert told.text(name) == (told.FOLDER / f"{name}.txt").read_text("utf-8")


def test_there_is_no_other_file() -> None:
    assert {each.stem for each in told.FOLDER.iterdir()} == {*told.FILES}
