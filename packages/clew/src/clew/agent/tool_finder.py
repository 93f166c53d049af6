"""A finder, asked: what it gives are names of tools that it was given."""

import msgspec

from clew.core.codec import PromptSpec
from clew.core.tools import Finder
from clew.core.trajectory import Trajectory
from clew.support.parts import Patience, ask, stable_name, wrong


async def matching_names(
    finder: Finder, prompt_spec: PromptSpec, trajectory: Trajectory, patience: Patience
) -> tuple[str, ...]:
    """The names of tools that a retrieval found. Raises `PartError` where it gives others."""
    who = f"the retrieval {stable_name(finder)}"
    chosen = await ask(who, patience, finder.find, prompt_spec.more, trajectory)
    try:
        names = msgspec.convert(chosen, tuple[str, ...])
    except msgspec.ValidationError:
        raise wrong(who, chosen, "a list of names of tools") from None
    if strange := [name for name in names if name not in prompt_spec.later]:
        raise wrong(who, strange[0], "names of tools that it was given")
    return names
