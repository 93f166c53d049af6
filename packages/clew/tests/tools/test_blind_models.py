"""A model that is not shown what tools return: the agent warns of it."""

from dataclasses import dataclass, replace
from typing import Any

import pytest

from clew import Agent, Audio, File, Image, tool
from clew.interfaces import OnText, Prompt, Reply
from clew.testing.models import ScriptedModel, say


@dataclass
class Page:
    text: str
    pictures: list[Image]


@tool(effect="read")
def chart() -> Image:
    """Draw a chart."""
    return Image("image/png", b"\x89PNG\r\n\x1a\n", "a chart")


@tool(effect="read")
def page() -> Page | None:
    """Fetch a page."""
    return None


@tool(effect="read")
def listen() -> dict[str, list[Audio]]:
    """Listen."""
    return {}


@tool(effect="read")
def bill() -> list[File | str]:
    """Fetch the bill."""
    return []


class Taking:
    """A model that is shown these media types."""

    def __init__(self, name: str, *takes: str) -> None:
        self._script = ScriptedModel([say("Seen.")])
        self.info = replace(self._script.info, name=f"taking:{name}", takes=frozenset(takes))

    async def complete(self, prompt: Prompt, on_text: OnText | None = None) -> Reply:
        return await self._script.complete(prompt, on_text)


@pytest.mark.parametrize(
    ("name", "takes", "told"),
    [
        ("nothing", (), ["pictures, and chart", "pictures, and page", "recordings, and listen"]),
        ("pictures", ("image/",), ["recordings, and listen"]),
        ("png", ("image/png",), ["recordings, and listen"]),
        ("recordings", ("audio/wav",), ["pictures, and chart", "pictures, and page"]),
        ("everything", ("",), []),
    ],
)
def test_the_agent_warns_of_them(name: str, takes: Any, told: list[str]) -> None:
    agent = Agent(Taking(name, *takes), tools=[chart, page, listen, bill]).replace(tries=3)
    assert [line.partition(" returns some")[0] for line in agent.warnings] == [
        f"taking:{name} takes no {each}" for each in told
    ]
