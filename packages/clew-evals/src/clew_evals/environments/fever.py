"""FEVER in its own file format: is a claim supported, refuted, or is there not enough to say?

The format is that of `train.jsonl` and `shared_task_dev.jsonl` (https://fever.ai/dataset): a line
per claim with `id`, `claim`, `label`, `verifiable` and `evidence`. The evidence names sentences of
Wikipedia, whose text is not in the file; a line may bring paragraphs as those of HotpotQA do, in a
field `context` of our own, and is then worked on over these.
"""

from pathlib import Path
from typing import Final, Literal

import msgspec

from clew import ConfigError
from clew.interfaces import Json
from clew_evals.case import Case
from clew_evals.environments.entries import FileEntry, chosen, entries, read
from clew_evals.environments.hotpotqa import Titled, by_title, reading
from clew_evals.world import World
from clew_web.wiki import LANGUAGE, WIKIPEDIA

LABELS: Final = ("SUPPORTS", "REFUTES", "NOT ENOUGH INFO")

ASK: Final = (
    "Find out whether this claim is true, and answer with one of three labels and nothing else: "
    "SUPPORTS if what you find shows that it is true, REFUTES if it shows that it is false, "
    "NOT ENOUGH INFO if it shows neither."
)


class FeverOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a matrix file may say of this world.

    Claims without a context are looked up in Wikipedia as it is now: in `language`, or another wiki
    whose `api.php` is at the address `api`. `ask` is said before each claim; `take` is how many of
    the first claims are worked on, 0 for all.
    """

    language: str = LANGUAGE
    api: str = WIKIPEDIA
    ask: str = ASK
    take: int = 0


OPTIONS: Final = FeverOptions
"""What `clew_evals.environments` reads the settings of a matrix file into."""


USUAL: Final = FeverOptions()


class _Claim(msgspec.Struct):
    id: int | str
    claim: str
    label: str | None = None
    verifiable: Literal["VERIFIABLE", "NOT VERIFIABLE"] | None = None
    evidence: list[list[tuple[int | None, int | None, str | None, int | None]]] = []
    context: Titled = []


def world(path: str | Path, options: FeverOptions = USUAL) -> World:
    """The claims of a file. Raises `ConfigError` for what cannot be read or scored."""
    cases = chosen(
        str(path), ((one.where, _case(one, options)) for one in entries(path)), options.take
    )
    return World("fever", cases, reading(options.language, options.api))


def _case(entry: FileEntry, options: FeverOptions) -> Case:
    one = read(entry, _Claim)
    if not one.claim.strip():
        message = f"{entry.where}: it has no claim"
        raise ConfigError(message)
    if one.label not in LABELS:
        told = f"its label is {one.label!r}" if one.label else "it has no label, as in the test set"
        message = f"{entry.where}: {told}; to be scored it must be one of {', '.join(LABELS)}"
        raise ConfigError(message)
    enough = one.label != "NOT ENOUGH INFO"
    if one.verifiable is not None and enough != (one.verifiable == "VERIFIABLE"):
        message = f"{entry.where}: its label is {one.label}, but it is said to be {one.verifiable}"
        raise ConfigError(message)
    named = {title for group in one.evidence for _, _, title, _ in group if title}
    extra: dict[str, Json] = {"evidence": sorted(named)}
    if one.context:
        extra["context"] = by_title(one.context)
    return Case(
        str(one.id),
        f"{options.ask}\n\nClaim: {one.claim.strip()}".strip(),
        {"em": one.label},
        category=one.label,
        tests="whether a claim follows from what is found",
        extra=extra,
    )
