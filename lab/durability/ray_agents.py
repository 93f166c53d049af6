"""The agents of Ray's actors, which make them for themselves, by the names of these functions."""

import os
from pathlib import Path
from typing import Final

import anyio

import clew
from clew.core.contents import Reply
from clew.core.models import ModelInfo, OnText
from clew.core.prompts import Prompt
from clew.testing.models import ScriptedModel, act, finish, position
from durability import world

FOLDER: Final = "CLEW_DURABILITY"
"""The variable that names the folder of the effects."""


def stormy() -> clew.Agent:
    """The agent of the storms."""
    return world.agent(Path(os.environ[FOLDER]), pace=world.PACE, model=world.MODEL)


@clew.tool(effect="pure")
async def turned(text: str) -> str:
    """Turn a text round."""
    return text[::-1]


class Short:
    """A model that has its goal turned round, turned back, and answers: three steps."""

    info = ModelInfo("scripted:short", priced=True)

    async def complete(self, prompt: Prompt, on_text: OnText | None = None) -> Reply:
        await anyio.lowlevel.checkpoint()
        goal = prompt.head[-1].text.strip().splitlines()[-1]
        moves = [act("turned", text=goal), act("turned", text=goal[::-1]), finish(goal[::-1])]
        return ScriptedModel(moves, name=self.info.name).reply(prompt, position(prompt))


def short() -> clew.Agent:
    """Three steps without an effect."""
    return clew.Agent(model=Short(), tools=[turned])
