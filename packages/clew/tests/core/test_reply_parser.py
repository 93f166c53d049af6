"""A second model that reads the replies of one that will not keep a format."""

from dataclasses import dataclass, field

import pytest

from clew import (
    Agent,
    Limits,
    MemoryStore,
    PartError,
    Usage,
    read,
    replay,
    run,
    tool,
    with_parser,
)
from clew.context.summary import ASKED
from clew.interfaces import Json, ModelInfo, OnText, Part, Prompt, RawCall, Reply, encode
from clew.testing import ScriptedModel, act, finish, say


@tool(effect="read")
def look(where: str) -> str:
    """Look somewhere.

    Args:
        where: Where.
    """
    return f"a coin in the {where}"


@dataclass
class Parser:
    """It reads what is said of a drawer, and anything else as an answer."""

    text: bool = False
    seen: list[Prompt] = field(default_factory=list)
    blind: bool = False

    @property
    def info(self) -> ModelInfo:
        return ModelInfo("own:parser", priced=True)

    async def complete(self, prompt: Prompt, on_text: OnText | None = None) -> Reply:
        self.seen.append(prompt)
        message = prompt.head[-1].text.split("The message:\n")[1].split("\n\nWhy")[0]
        name, args = "finish", dict[str, Json](answer=message.split("the answer is ")[-1])
        if "drawer" in message and "answer" not in message:
            name, args = "look", {"where": "drawer"}
        usage = Usage(input=10, output=5, cost=0.01)
        if self.blind:
            return Reply("I do not know.", usage=usage)
        if self.text:
            return Reply(f"Action: {name}\nAction Input: {encode(args).decode()}", usage=usage)
        return Reply(
            "", (RawCall(name=name, arguments=encode(args).decode()),), "calls", usage=usage
        )


@dataclass
class Talker:
    """It says in free text what it does."""

    said: tuple[str, ...] = ("Let me check the drawer first.", "So the answer is: a coin")
    asked: int = 0
    info = ModelInfo("own:talker", priced=True)

    async def complete(self, prompt: Prompt, on_text: OnText | None = None) -> Reply:
        self.asked += 1
        seen = sum(part.role == "assistant" for part in prompt.parts)
        usage = Usage(input=100, output=50, cost=0.1)
        return Reply(self.said[min(seen, len(self.said) - 1)], usage=usage)


@pytest.mark.parametrize("codec", ["native", "labelled"])
async def test_free_text_is_read_by_a_second_model(codec: str) -> None:
    parser, talker, store = Parser(text=codec == "labelled"), Talker(), MemoryStore()
    agent = with_parser(Agent(talker, [look], codec=codec), parser)
    done = await run(agent, "What is in the drawer?", store=store)
    assert done.answer in {"a coin", "So the answer is: a coin"}
    record = await read(done.run_id, store=store)
    assert record.calls[0].action.name == "look"
    first = record.steps[0].thought
    assert first is not None
    assert first.reply.reasoning == "Let me check the drawer first."
    assert "read by own:parser" in first.repairs
    assert (first.reply.usage.input, first.reply.usage.output) == (110, 55)
    assert first.reply.usage.cost == pytest.approx(0.11)
    assert record.usage.tokens == 165 * 2
    asked = (talker.asked, len(parser.seen))
    replayed = await replay(agent, done.run_id, store=store)
    assert replayed.trajectory.stop == record.stop
    assert (talker.asked, len(parser.seen)) == asked
    other = with_parser(Agent(talker, [look], codec=codec), Talker())
    with pytest.raises(Exception, match="another params"):
        await replay(other, done.run_id, store=store)


async def test_what_can_be_read_costs_nothing_more() -> None:
    parser = Parser()
    model = ScriptedModel([act("look", where="drawer"), finish("a coin")])
    agent = with_parser(Agent(model, [look]), parser)
    done = await run(agent, "What is in the drawer?", store=MemoryStore())
    assert (done.answer, parser.seen) == ("a coin", [])


async def test_what_the_second_cannot_read_either_is_a_fault_as_without_it() -> None:
    parser, store = Parser(blind=True), MemoryStore()
    agent = with_parser(Agent(Talker(), [look], codec="labelled"), parser)
    done = await run(agent, "What is in the drawer?", store=store)
    record = await read(done.run_id, store=store)
    first = record.steps[0].thought
    assert first is not None
    assert first.fault
    assert "own:parser could not read it either" in first.repairs
    assert first.reply.usage.tokens == 165


async def test_a_typed_answer_in_words_is_read_too() -> None:
    parser = ScriptedModel([finish(42)])
    agent = with_parser(Agent(ScriptedModel([say("It is forty-two.")]), answer=int), parser)
    done = await run(agent, "How many?", store=MemoryStore())
    assert done.answer == 42


async def test_a_summary_is_no_reply_to_be_read() -> None:
    parser = Parser()
    agent = with_parser(Agent(Talker(("A summary.",)), [look]), parser)
    prompt = Prompt((Part("system", ""),), (), (Part("user", ASKED),))
    assert (await agent.engine.model.complete(prompt)).text == "A summary."
    assert parser.seen == []


async def test_in_a_landing_a_text_is_the_answer() -> None:
    parser = Parser()
    talker = Talker(("Let me check the drawer first.", "I saw a coin."))
    agent = with_parser(Agent(talker, [look], limits=Limits(steps=1)), parser)
    done = await run(agent, "What is in the drawer?", store=MemoryStore())
    assert (done.status, done.answer, len(parser.seen)) == ("bound", "I saw a coin.", 1)


async def test_a_parser_that_fails_leaves_the_run_open() -> None:
    class Broken(Parser):
        async def complete(self, prompt: Prompt, on_text: OnText | None = None) -> Reply:
            raise ValueError("mine")

    agent = with_parser(Agent(Talker(), [look]), Broken())
    with pytest.raises(PartError, match="own:parser"):
        await run(agent, "What is in the drawer?", store=MemoryStore())
