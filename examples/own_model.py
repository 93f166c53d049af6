"""A provider is one class with `info` and `complete`: here, anything that turns text into text.

A function that continues a text (a model in process, say) is enough for a text format, in which
actions are written as lines of text. Prints:

    Thought 1: I look it up. Action 1: capital[Poland]
    Thought 2: I have it. Action 2: Finish[Warsaw]
    answered: Warsaw
"""

from collections.abc import Callable
from dataclasses import dataclass

from clew import Agent, MemoryStore, Usage, run_sync, sync, tool
from clew.interfaces import ModelInfo, OnText, Prompt, Reply


@dataclass(frozen=True)
class TextModel:
    """A model that continues a text; what it cost is not known."""

    go_on: Callable[[str], str]
    info = ModelInfo("mine:text")

    async def complete(self, prompt: Prompt, on_text: OnText | None = None) -> Reply:
        """Send the parts as one text. `on_text` is given whatever has arrived."""
        text = "\n".join(part.text for part in prompt)
        reply_text = self.go_on(text)
        if on_text is not None:
            on_text(reply_text)
        return Reply(reply_text, usage=Usage(len(text) // 4, len(reply_text) // 4, estimated=True))


def parrot(text: str) -> str:
    """Stand in for a real one."""
    seen = "Observation 1: Warsaw" in text
    second = "Thought 2: I have it.\nAction 2: Finish[Warsaw]"
    return second if seen else "Thought 1: I look it up.\nAction 1: capital[Poland]"


@tool(effect="pure")
def capital(country: str) -> str:
    """Find the capital of a country."""
    return {"Poland": "Warsaw"}.get(country, "unknown")


def main() -> None:
    agent = Agent(model=TextModel(parrot), tools=[capital], codec="paper")
    result = run_sync(agent, "What is the capital of Poland?", store=(store := MemoryStore()))
    for step in sync.read(result.run_id, store=store):
        print(" ".join(step.thought.reply.text.split()) if step.thought else "")
    print(f"{result.status}: {result.answer}")


if __name__ == "__main__":
    main()
