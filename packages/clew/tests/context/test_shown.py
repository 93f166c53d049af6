"""What models are shown of clew's own words stays to the letter what it was when measured."""

from tests.context.shown import SHOWN, shown


def test_examples_instructions_and_variants_stay_as_they_were() -> None:
    assert shown() == SHOWN.read_text("utf-8")
