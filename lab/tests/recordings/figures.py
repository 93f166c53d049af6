"""The figures of a part, as tests of the parts look at them."""

from recordings.part import Part


def figures(part: Part) -> dict[str, tuple[str, str, bool]]:
    """What was got, of how much, and whether that is enough, by what it is of."""
    return {one.what: (one.got, one.of, one.met) for one in part.figures}
