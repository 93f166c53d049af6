"""How many of the recorded turns were compared at all: what is left out proves nothing."""

from collections.abc import Mapping, Sequence
from typing import Final

from recordings.data import turns
from recordings.forms import RUNS, UNKNOWN
from recordings.part import MINIMUM, Part, share

COMPARING: Final = ("text", "native", "stateful")
"""The parts that compare turns; the others go over the same turns, or over none."""

TITLE: Final = "Turns compared"
WHAT: Final = "turns compared, of those given"
TEXT: Final = """\
Every turn in the recordings counts as given, also in records of no known form. Compared is a turn
whose reply and call clew read and held against the recording. Left out are turns of unknown forms,
those of which something else was recorded than the reply says, and calls that do not stand in the
reply's text. Below half, `make evidence` fails.
"""


def coverage(parts: Mapping[str, Part], needs: Mapping[str, frozenset[str]]) -> Part:
    """What these parts, by name, compared of the turns that they were given."""
    wanted = [name for name in COMPARING if name in parts]
    kinds = frozenset[str]().union(*(needs[name] for name in wanted))
    if len(wanted) == len(COMPARING):
        kinds |= RUNS | {UNKNOWN}
    compared = sum(parts[name].compared for name in wanted)
    figure = share(WHAT, compared, turns(*kinds), minimum=MINIMUM)
    return Part(
        TITLE, TEXT, [figure], finding="most of what was recorded is compared", lead=(WHAT,)
    )


def told(parts: Sequence[Part]) -> str:
    """The figure in a line, "" where no turn was to be compared."""
    for part in parts:
        if part.title == TITLE and part.figures[0].got:
            return f"compared {part.figures[0].got} of {part.figures[0].of} turns"
    return ""
