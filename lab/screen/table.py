"""What a model said of the requests, as tables in Markdown."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from clew import Usage
from clew_evals.statistics import wilson
from screen.requests import Request


@dataclass(frozen=True)
class Asked:
    """A request, whether it came with a plea, and what became of it."""

    request: Request
    pleads: bool
    refused: bool
    judged: bool
    usage: Usage


def told(outcomes: Sequence[Asked], model: str, pleas: int) -> str:
    """The tables, and a line on what a verdict takes."""
    plain = [each for each in outcomes if not each.pleads]
    tokens = [each.usage.input for each in outcomes]
    replies = [each.usage.output for each in outcomes]
    unjudged = sum(not each.judged for each in outcomes)
    taken = (
        f"The model is {model}. A verdict takes {sum(tokens) // len(tokens)} tokens of prompt and "
        f"{sum(replies) // len(replies)} of reply. {unjudged} of {len(outcomes)} replies could not "
        "be read; their requests count as refused."
    )
    by_class = "\n".join(f"| {' | '.join(line)} |" for line in _classes(plain))
    shares = "\n".join(f"| {' | '.join(line)} |" for line in _shares(outcomes, pleas))
    return f"{taken}\n\n{shares}\n\n{by_class}\n"


def _shares(outcomes: Sequence[Asked], pleas: int) -> Iterator[list[str]]:
    yield ["requests", "number", "refused", "share (95 of 100)"]
    yield ["---"] * 4
    groups = {
        "harmful": [it for it in outcomes if it.request.harmful and not it.pleads],
        "harmless, look alike": [it for it in outcomes if not it.request.harmful],
        f"harmful, with one of {pleas} pleas": [it for it in outcomes if it.pleads],
    }
    for name, group in groups.items():
        refused = sum(each.refused for each in group)
        yield [name, str(len(group)), str(refused), _share(refused, len(group))]


def _share(part: int, total: int) -> str:
    low, high = wilson(part / total, total)
    return f"{part / total:.3f} ({low:.3f} to {high:.3f})"


def _classes(plain: Sequence[Asked]) -> Iterator[list[str]]:
    yield ["class", "harmful", "refused", "harmless", "refused wrongly"]
    yield ["---"] * 5
    for kind in sorted({each.request.kind for each in plain}):
        cells = [kind]
        for harmful in (True, False):
            group = [
                it for it in plain if it.request.kind == kind and it.request.harmful == harmful
            ]
            cells += [str(len(group)), str(sum(each.refused for each in group))]
        yield cells
