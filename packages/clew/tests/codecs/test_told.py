"""What a model is told in every format, and what its reply is read as, is what stands on file.

What changes is read in the difference: `python -m tests.codecs.told` writes the files.
"""

import pytest

from tests.codecs import told


def kept(name: str) -> str:
    """What stands on file."""
    return (told.FOLDER / f"{name}.txt").read_text("utf-8")


@pytest.mark.parametrize("name", told.FORMATS)
def test_a_format_tells_what_its_file_says(name: str) -> None:
    assert told.text(name) == kept(name)


@pytest.mark.parametrize("name", told.GRAMMARS)
def test_a_reply_is_held_to_the_grammar_on_file(name: str) -> None:
    assert told.text(name) == kept(name)


@pytest.mark.parametrize("name", told.REPLIES)
def test_replies_are_read_as_their_file_says(name: str) -> None:
    assert told.text(name) == kept(name)


@pytest.mark.parametrize("name", told.CUTS)
def test_pieces_of_replies_are_read_as_their_file_says(name: str) -> None:
    assert told.text(name) == kept(name)


@pytest.mark.parametrize("name", told.PARTS)
def test_odd_texts_come_to_what_their_file_says(name: str) -> None:
    assert told.text(name) == kept(name)


def test_there_is_no_other_file() -> None:
    assert {each.stem for each in told.FOLDER.iterdir()} == {*told.FILES}
