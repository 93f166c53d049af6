"""What the roles of a strategy take from their agent: format, model, words, conversation."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from clew import Agent, Limits, MemoryStore, ModelError, ModelSettings, Tool, open_run, resume, run
from clew.agent.reply_parser import with_parser
from clew.context import Context, Instructions, Rewinds, Variant
from clew.core.contents import text_parts
from clew.core.events import Note
from clew.guards import Provenance
from clew.interfaces import Json, ModelInfo, OnText, Prompt, Reply, encode
from clew.testing import ScriptedModel, finish
from clew_strategies import (
    Auto,
    EvaluatorOptimizer,
    Orchestrator,
    PlanAndSolve,
    Reflexion,
    ReWOO,
    TreeSearch,
    strategy_agent,
)
from clew_strategies.default_roles import solver, typed_agent, worker
from tests.strategies.post import Post
from tests.strategies.test_programs import population

SAID: dict[str, Json] = {
    "Give a score": {"score": 1.0, "why": "right"},
    "You judge the work": {"passed": True, "why": "right"},
    "You plan all tool calls": {
        "calls": [{"id": "E1", "tool": "population", "args": {"city": "Ulm"}, "why": "it"}]
    },
    "You plan the work": {"steps": ["look"]},
    "Divide a task": {"parts": [{"task": "Ulm?", "weight": 1}]},
    "You worked on a task": "I should look.",
    "Decide who is to answer": {"name": "react", "why": "one thing"},
}

STRATEGIES: list[Callable[[Agent], Any]] = [
    Reflexion,
    EvaluatorOptimizer,
    PlanAndSolve,
    ReWOO,
    Orchestrator,
    TreeSearch,
    lambda agent: Auto(agent, asks=True),
]


class TextOnly:
    """A server that only speaks text: it refuses tools, as many a small one does."""

    def __init__(self, codec: str, tools: tuple[Tool, ...] = ()) -> None:
        self.codec, self.tools = codec, tools
        self.prompts: list[str] = []

    info = ModelInfo("text:only")

    async def complete(self, prompt: Prompt, on_text: OnText | None = None) -> Reply:
        """A reply in the format, whoever it is asked as."""
        text = "\n".join(part.text for part in prompt)
        self.prompts.append(text)
        if self.codec != "native" and (prompt.tools or any(part.calls for part in prompt)):
            raise ModelError("400: this server takes no tools")
        value = next((said for known, said in SAID.items() if known in text), "Ulm has 130000.")
        scripted = ScriptedModel([finish(value)], self.codec, self.tools, type(value))
        return await replace(scripted, script=[finish(value)] * 9).complete(prompt, on_text)


@pytest.mark.parametrize("codec", ["native", "json", "labelled", "paper"])
@pytest.mark.parametrize("made", STRATEGIES)
async def test_every_role_speaks_the_format_of_its_agent(
    made: Callable[[Agent], Any], codec: str
) -> None:
    model = TextOnly(codec, (population,))
    agent = Agent(model, [population], codec=codec, guards=[Provenance("off")])
    done = await run(strategy_agent(made(agent), agent), "How many live in Ulm?")
    assert (done.status, done.answer) == ("answered", "Ulm has 130000.")
    assert len(model.prompts) >= 1


ROLES: list[Callable[[Agent], Agent]] = [
    solver,
    worker,
    lambda agent: typed_agent(agent, "You judge the work.", dict),
]


@pytest.mark.parametrize("made", ROLES)
@pytest.mark.parametrize(
    ("fields", "kept"),
    [
        ({"codec": "json"}, lambda role: role.engine.codec.name.startswith("json")),
        ({"codec": "labelled"}, lambda role: role.engine.codec.name.startswith("labelled")),
        ({"settings": ModelSettings(seed=7)}, lambda role: role.engine.seed == 7),
        ({"limits": Limits(part_seconds=3)}, lambda role: role.engine.patience.seconds == 3),
        ({"limits": Limits(tokens=999)}, lambda role: role.limits.tokens == 999),
        ({"limits": Limits(reply_seconds=4)}, lambda role: role.limits.reply_seconds == 4),
        (
            {"context": Context(compaction=None, rewinds=Rewinds())},
            lambda role: role.context.compaction is None,
        ),
        (
            {"prompt": Instructions(variants=(Variant(name="own", codec="paper"),))},
            lambda role: role.engine.codec.name.startswith("paper"),
        ),
        ({"prompt": Instructions(thought=False)}, lambda role: not role.engine.prompt_spec.thought),
        ({"tries": 5}, lambda role: role.tries == 5),
    ],
)
def test_a_role_keeps_what_its_agent_was_given(
    made: Callable[[Agent], Agent], fields: dict[str, Any], kept: Callable[[Agent], bool]
) -> None:
    agent = Agent(ScriptedModel([]), [population], **fields)
    assert kept(made(agent))
    inner = strategy_agent(Reflexion(agent), agent)
    assert kept(made(inner)) or made is worker


@pytest.mark.parametrize("codec", ["code"])
def test_a_role_without_calls_writes_no_programs(codec: str) -> None:
    agent = Agent(ScriptedModel([], codec), codec=codec)
    assert solver(agent).engine.codec.name.startswith("json")


def test_a_parser_reads_the_replies_of_roles_in_their_own_form() -> None:
    agent = with_parser(
        Agent(ScriptedModel([]), [population], guards=[Provenance("off")]),
        ScriptedModel([], name="s:parser"),
    )
    role = typed_agent(agent, "You judge the work.", dict)
    assert role.engine.model.info.params["parser"] == "s:parser"
    assert role.engine.model.prompt_spec.tools == ()  # type: ignore[attr-defined]  # it is `WithParser`


@pytest.mark.parametrize("prompt", ["Answer in French.", Instructions(output="One word.")])
async def test_the_solver_is_told_what_its_agent_was_told(prompt: Any) -> None:
    model = TextOnly("native")
    agent = Agent(model, [population], prompt=prompt, guards=[Provenance("off")])
    await run(strategy_agent(ReWOO(agent), agent), "How many live in Ulm?")
    words = prompt if isinstance(prompt, str) else prompt.output
    assert words in model.prompts[-1]


@pytest.mark.parametrize("made", STRATEGIES)
async def test_a_second_question_comes_with_the_conversation(made: Callable[[Agent], Any]) -> None:
    model, store = TextOnly("native"), MemoryStore()
    agent = Agent(model, [population], guards=[Provenance("off")])
    whole = strategy_agent(made(agent), agent)
    await run(whole, "How many live in Ulm?", store=store, run_id="r")
    model.prompts.clear()
    done = await resume(whole, "r", say="And in which country is it?", store=store)
    assert done.status == "answered"
    for prompt in model.prompts:
        if prompt is not model.prompts[0] and made is Orchestrator and "Parts:" not in prompt:
            continue  # a worker knows only what was written to it
        assert "Person: How many live in Ulm?\nAssistant: Ulm has 130000." in prompt
        assert "And in which country is it?" in prompt


@pytest.mark.parametrize("made", STRATEGIES)
async def test_a_memory_reaches_the_runs(made: Callable[[Agent], Any]) -> None:
    model, store = TextOnly("native"), MemoryStore()
    agent = Agent(model, [population], guards=[Provenance("off")])
    note = Note(
        text_parts('- [m1; fact] "Ulm is on the Danube"'), source="memory", trust="untrusted"
    )
    whole = strategy_agent(made(agent), agent)
    async with open_run(whole, "How many?", store=store, run_id="r") as opened:
        await store.post("r", encode(note))
        await opened.go_on()
    workers = [prompt for prompt in model.prompts[1:] if "Parts:" not in prompt]
    unaware = workers if made is Orchestrator else []  # they know only what was written to them
    for prompt in model.prompts:
        assert prompt in unaware or "Ulm is on the Danube" in prompt


async def test_a_long_conversation_is_told_from_its_end() -> None:
    model, store = TextOnly("native"), MemoryStore()
    agent = Post().clerk(model)  # type: ignore[arg-type]  # any model does
    whole = strategy_agent(EvaluatorOptimizer(agent, rounds=1), agent)
    await run(whole, "first " + "a" * 9_000, store=store, run_id="r")
    await resume(whole, "r", say="second " + "b" * 9_000, store=store)
    model.prompts.clear()
    await resume(whole, "r", say="third", store=store)
    assert "second bbb" in model.prompts[0]
    assert "first aaa" not in model.prompts[0]
    assert "earlier words are left out" in model.prompts[0]
