"""A model that keeps every prompt it is sent, and what the tests of prompts share."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from clew.context import Variant
from clew.context.view import plain
from clew.core.contents import Reply
from clew.core.models import Model, OnText
from clew.core.prompts import Prompt
from clew.core.tools import Tool
from clew.core.values import encode
from clew.testing.models import Line, ScriptedModel
from clew.toolbox.calc import calc
from clew.toolbox.docs import docs_tools

CODECS = ("native", "paper", "labelled", "json")


@dataclass
class Watched:
    """A model that keeps every prompt for a thought."""

    inner: Model
    sent: list[Prompt] = field(default_factory=list[Prompt])

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    async def complete(self, prompt: Prompt, on_text: OnText | None = None) -> Reply:
        if prompt.purpose == "think":
            self.sent.append(prompt)
        return await self.inner.complete(prompt, on_text)


def watched(*script: Line, **more: Any) -> Any:
    return Watched(ScriptedModel(script, **more))


def told(prompt: Prompt) -> bytes:
    tools = [(t.name, t.description, t.parameters, t.examples) for t in prompt.tools]
    sections = (prompt.head, prompt.parts, prompt.tail)
    parts = [[plain(part) for part in section] for section in sections]
    return encode([parts, tools, prompt.calls, prompt.stop, prompt.reply_schema])


def shipped(folder: Path) -> list[Tool]:
    folder.joinpath("a.md").write_text("# A\n\nOne line of text.\n")
    return [calc(), *docs_tools(folder)]


def vowels_only(text: str) -> str:
    """Show the vowels of an observation."""
    return "".join(letter for letter in text if letter in "aeiou")


SHAPED = Variant(name="shaped", match=("scripted:*",), shape=vowels_only)
