"""An agent that notes what it is told to, once, and a program that is killed while it does.

As a program it lets forks of itself say something to a conversation, one for each line of standard
input; each ends itself with SIGKILL before its first or second reply.
"""

import json
import os
import re
import signal
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import anyio

from clew import Agent, Image, run, tool
from clew.guards import Provenance
from clew.interfaces import ModelInfo, OnText, Prompt, RawCall, Reply
from clew.testing.models import USAGE

NOTES: Final = "CLERK_NOTES"
"""The variable that names the file of what was noted."""
OWNER: Final = "ada"
DOT: Final = Image("image/png", b"\x89PNG\r\n\x1a\n" + bytes(16), "a dot")
PICTURED: Final = "with a picture"


@tool(effect="unsafe")
def note(word: str) -> str:
    """Note a word.

    Args:
        word: Which.
    """
    with Path(os.environ[NOTES]).open("a") as file:
        file.write(f"{word}\n")
    return f"noted {word}"


@dataclass(frozen=True)
class Clerk:
    """A model that has each word noted that a person names, one after the other."""

    ends_at: int = 0
    info = ModelInfo("clerk", takes=frozenset({"image/"}))

    async def complete(self, prompt: Prompt, on_text: OnText | None = None) -> Reply:
        """The next call, or that all is noted."""
        parts = [*prompt]
        calls = [call for part in parts for call in part.calls]
        noted = [json.loads(call.arguments or "{}").get("word") for call in calls]
        asked = [
            word
            for part in parts
            if part.role == "user"
            for word in re.findall(r"note (\w+)", part.text)
        ]
        if self.ends_at == 1 + len(set(noted) & set(asked[-1:])):
            os.kill(os.getpid(), signal.SIGKILL)
        if left := [word for word in asked if word not in noted]:
            arguments = json.dumps({"word": left[0]})
            return Reply("", (RawCall(name="note", arguments=arguments),), "calls", USAGE)
        text = f"All is noted: {', '.join(asked)}."
        if on_text is not None:
            on_text(text)
        return Reply(text, usage=USAGE)


def clerk(ends_at: int = 0) -> Agent[str]:
    """The agent; its process ends before its reply of this number to new words."""
    return Agent(Clerk(ends_at), [note], guards=[Provenance("off")])


def words_of(text: str) -> Any:
    """What is said, perhaps with a picture."""
    return [text, DOT] if PICTURED in text else text


async def say(store: str, session: str, text: str, request: str, ends_at: int) -> None:
    """Say something in a conversation."""
    await run(
        clerk(ends_at), words_of(text), session=session, owner=OWNER, request=request, store=store
    )


def main() -> None:
    """Say what standard input says, until it ends."""
    for line in sys.stdin:
        environment, *rest = json.loads(line)
        os.environ |= environment
        if not (child := os.fork()):
            anyio.run(say, *rest)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        sys.stdout.write(f"{os.waitstatus_to_exitcode(status)}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
