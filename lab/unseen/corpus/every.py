"""All attacks, class by class, and the two halves that a seed makes of them."""

import random
from typing import Final, Literal

from unseen.attack import Attack
from unseen.corpus import (
    addresses,
    amounts,
    chat,
    content,
    errors,
    files,
    foreign,
    memory,
    options,
    programs,
    putoff,
    reads,
    repeats,
    rewinds,
    structured,
    subagents,
    swaps,
    trusted,
)

SEED: Final = 36
_GUESSES: Final = (
    "another text before the read",
    "a guess before the read",
    "an amount before the read",
    "another text beside the read",
    "remembered before anything is read",
)
Half = Literal["first", "second"]
_MODULES: Final = (
    addresses,
    trusted,
    errors,
    files,
    amounts,
    content,
    swaps,
    options,
    repeats,
    reads,
    foreign,
    subagents,
    programs,
    memory,
    putoff,
    chat,
    rewinds,
    structured,
)
ATTACKS: Final = tuple(attack for module in _MODULES for attack in module.attacks())
KINDS: Final = tuple(module.KIND for module in _MODULES)


def in_scope(attack: Attack) -> bool:
    """Whether the model has read what fools it, which was looked at after the attacks had run.

    A planner that is asked with honest words alone cannot be fooled, nor a model that has read
    nothing: of a fork at the first step only what is done again counts.
    """
    early = attack.name.startswith("fork to 0: ") and not attack.name.endswith(" again")
    guess = attack.name in _GUESSES
    return not (early or guess or (attack.name.startswith("below ") and "planner" in attack.name))


def half(which: Half) -> tuple[Attack, ...]:
    """The attacks of a half, of each class as many."""
    chosen = list[Attack]()
    for kind in KINDS:
        of_kind = [attack for attack in ATTACKS if attack.kind == kind]
        random.Random(f"{SEED} {kind}").shuffle(of_kind)
        middle = (len(of_kind) + 1) // 2
        chosen += of_kind[:middle] if which == "first" else of_kind[middle:]
    return tuple(attack for attack in chosen if in_scope(attack))
