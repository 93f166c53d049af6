"""Any prompt can be made again from the record alone, and what cannot is said."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from clew import (
    Agent,
    ConfigError,
    Instructions,
    MemoryStore,
    SqliteStore,
    fork,
    prompt_of,
    read,
    resume,
    run,
    run_sync,
    sync,
)
from clew.codecs import by_name as codec_by_name
from clew.codecs.labelled import Dialect, Labelled
from clew.context import PROMPT, demonstrations
from clew.core.contents import Reply, text_parts
from clew.core.events import Fingerprints, Started, Thought
from clew.core.journal import Journal, load
from clew.core.prompts import Prompt
from clew.core.specs import AgentSpec
from clew.core.stores import Append
from clew.core.tools import Tool, ToolSpec
from clew.testing.models import ScriptedModel, act, finish, say
from tests.core.play import play
from tests.core.scenarios import SCENARIOS, TOOLS, Scenario
from tests.core.watched import CODECS, SHAPED, Watched, shipped, told, vowels_only, watched

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda s: s.name)
async def test_every_prompt_can_be_made_again_from_the_record_alone(
    scenario: Scenario, tmp_path: Path
) -> None:
    sent: list[Prompt] = []

    def agent(folder: Path) -> Agent:
        made = scenario.agent(folder)
        watching: Any = Watched(made.engine.model, sent)
        return made.replace(model=watching)

    store = SqliteStore(tmp_path / "runs.db")
    try:
        await play(replace(scenario, agent=agent), tmp_path, store)
        record = await load(store, "run")
        assert len(record.steps) == len(sent)
        for number, prompt in enumerate(sent, start=1):
            again = await prompt_of("run", number, store=store)
            assert told(again.prompt) == told(prompt)
            assert (again.step, again.differs, again.reason) == (number, (), "")
            assert again.verdict.startswith("exactly what was sent")
    finally:
        await store.close()


async def test_examples_and_demonstrations_come_back_too(tmp_path: Path) -> None:
    tools = shipped(tmp_path)
    for codec in CODECS:
        model = watched(finish("2"), codec=codec, tools=tools)
        prompt = PROMPT.replace(examples=demonstrations(6), thought=False)
        agent = Agent(model=model, tools=tools, codec=codec, prompt=prompt)
        store = MemoryStore()
        again = await prompt_of((await run(agent, "1+1?", store=store)).run_id, store=store)
        assert told(again.prompt) == told(model.sent[0])
        assert again.differs == ()


async def test_after_a_change_prompts_are_those_of_the_other_agent() -> None:
    store = MemoryStore()
    agent = Agent(model=ScriptedModel([say("one"), say("two")]), tools=TOOLS)
    result = await run(agent, "What?", store=store)
    other = agent.replace(prompt=Instructions("Be brief.", (), thought=False))
    await resume(other, result.run_id, say="And?", accept_change=True, store=store)
    prompts = [await prompt_of(result.run_id, step, store=store) for step in (1, 2)]
    assert [one.differs for one in prompts] == [(), ()]
    heads = [one.prompt.head[0].text for one in prompts]
    assert heads[0].startswith(PROMPT.text)
    assert heads[1] == "Be brief."


async def test_a_fork_has_the_prompts_of_both_agents() -> None:
    store = MemoryStore()
    model = watched(*(act("lookup", key=key) for key in "abc"), say("ok"))
    agent = Agent(model=model, tools=TOOLS)
    result = await run(agent, "What?", store=store)
    prompt_spec = agent.replace(prompt="Be brief.")
    seen = {"2.1": "something else"}
    forked = await fork(prompt_spec, result.run_id, at=2, observations=seen, store=store)
    expected = [*model.sent[:2], *model.sent[4:]]
    for number, prompt in enumerate(expected, start=1):
        again = await prompt_of(forked.run_id, number, store=store)
        assert told(again.prompt) == told(prompt)
        assert again.differs == ()
    assert "something else" in [part.text for part in expected[-1].parts]


async def test_a_shape_of_ones_own_is_named_and_can_be_given() -> None:
    store = MemoryStore()
    model = watched(act("lookup", key="a"), finish("ok"))
    agent = Agent(model=model, tools=TOOLS, prompt=PROMPT.replace(variants=(SHAPED,)))
    result = await run(agent, "What?", store=store)
    assert (await prompt_of(result.run_id, 1, store=store)).differs == ()
    without = await prompt_of(result.run_id, store=store)
    assert without.differs == ("parts",)
    assert without.verdict == (
        "NOT exactly what was sent: the steps cannot be made again here (observations were shown "
        "as tests.core.watched.vowels_only shapes them, which does not ship with clew: from "
        "Python, give it to prompt_of(…, shape=…))"
    )
    given = await prompt_of(result.run_id, store=store, shape=vowels_only)
    assert given.differs == ()
    assert told(given.prompt) == told(model.sent[-1])


async def test_a_shape_that_ships_is_found_again() -> None:
    async def long(args: dict[str, Any], key: str) -> str:
        return "x" * 10_000

    tool = Tool("long", "Read a lot.", {"type": "object", "properties": {}}, long, effect="read")
    model = watched(act("long"), finish("ok"), name="ollama:x:7b")
    store = MemoryStore()
    result = await run(Agent(model=model, tools=[tool]), "What?", store=store)
    again = await prompt_of(result.run_id, store=store)
    assert again.differs == ()
    assert "2,000 characters left out here" in again.prompt.parts[1].text


async def test_a_format_of_ones_own_is_named_and_can_be_given() -> None:
    store = MemoryStore()
    own = Labelled(Dialect("plan", thought="Plan"))
    model = watched("Plan: say it\nFinal Answer: ok")
    result = await run(Agent(model=model, codec=own), "What?", store=store)
    with pytest.raises(ConfigError, match=r"by the codec 'labelled:plan/2', which does not ship"):
        await prompt_of(result.run_id, store=store)
    given = await prompt_of(result.run_id, store=store, codec=own)
    assert told(given.prompt) == told(model.sent[0])
    wrong = await prompt_of(result.run_id, store=store, codec=codec_by_name("paper"))
    assert wrong.differs == ("head", "params")
    assert wrong.reason == "it was rendered by labelled:plan/2, here it is by paper/2"


async def test_what_a_record_does_not_say_is_said() -> None:
    store = MemoryStore()
    agent = Agent(model=ScriptedModel([say("ok")]))
    result = await run(agent, "What?", store=store)
    with pytest.raises(ConfigError, match="has no thought 2: its thoughts are 1 to 1"):
        await prompt_of(result.run_id, 2, store=store)
    (started, *_) = await store.read(result.run_id)
    await store.create("begun")
    await store.append(Append("begun", 1, (started,)))
    with pytest.raises(ConfigError, match="run begun has no thought 1: it has not thought yet"):
        await prompt_of("begun", store=store)


async def test_a_record_of_before_is_readable_and_says_that_it_kept_no_prompts() -> None:
    store = MemoryStore()
    started = Started(text_parts("What?"), AgentSpec("f", "m:x", "native/2", "Be brief."))
    journal = await Journal.create(store, started, "old")
    await journal.record(Thought(Reply("ok"), Fingerprints("", "", "", ""), answer="ok"))
    assert len((await read("old", store=store)).steps) == 1
    with pytest.raises(ConfigError, match="did not keep what prompts are made of"):
        await prompt_of("old", store=store)


class Keeping(MemoryStore):
    """A store that shows the blobs it is given."""

    def __init__(self) -> None:
        super().__init__()
        self.given: list[dict[str, bytes]] = []

    async def append(self, append: Append) -> bool:
        self.given.append(dict(append.blobs))
        return await super().append(append)


async def test_all_runs_of_an_agent_share_one_blob_which_nothing_is_compared_with() -> None:
    store = Keeping()
    agent = Agent(model=ScriptedModel([say("ok")]), tools=TOOLS)
    await run(agent, "What?", store=store)
    result = await run(agent, "What else?", store=store)
    assert len({digest for blobs in store.given for digest in blobs}) == 1
    record = await load(store, result.run_id)
    setting = record.started.spec
    assert setting.prompt_spec is None
    assert (await store.blob(setting.prompt_blob)).startswith(b'{"prompt":"You answer')
    assert setting.fingerprint == agent.spec.fingerprint
    await resume(agent, result.run_id, store=store)
    lines = await store.read(result.run_id)
    assert len(lines[0].body) < 1_500


async def test_known_secrets_are_not_in_the_blob(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "sk-0123456789abcdef")
    store = Keeping()
    model = watched(say("ok"))
    agent = Agent(model=model, prompt="Use sk-0123456789abcdef for it.")
    result = await run(agent, "What?", store=store)
    assert all(b"sk-0123" not in body for blobs in store.given for body in blobs.values())
    again = await prompt_of(result.run_id, store=store)
    assert again.differs == ("head",)
    assert again.verdict == "NOT exactly what was sent: the head cannot be made again here"
    assert again.prompt.head[0].text.startswith("Use [redacted] for it.")


async def test_a_brief_that_cannot_be_read_is_one_line() -> None:
    store = MemoryStore()
    agent = Agent(model=ScriptedModel([say("ok")]))
    result = await run(agent, "What?", store=store)
    record = await load(store, result.run_id)
    digest = record.started.spec.prompt_blob
    (line, *_) = await store.read(result.run_id)
    broken = Append("r", 1, (line,), blobs={digest: b'{"prompt": 1}'})
    await store.create("r")
    await store.append(broken)
    with pytest.raises(ConfigError, match="brief is not readable here"):
        await prompt_of(result.run_id, store=store)


async def test_the_tools_of_a_record_are_specs_that_nobody_can_call() -> None:
    store = MemoryStore()
    agent = Agent(model=ScriptedModel([say("ok")]), tools=TOOLS)
    again = await prompt_of((await run(agent, "What?", store=store)).run_id, store=store)
    first = again.prompt.tools[0]
    assert (first.name, type(first)) == ("lookup", ToolSpec)


def test_prompts_are_the_same_from_python_without_an_event_loop(tmp_path: Path) -> None:
    result = run_sync(Agent(model=ScriptedModel([say("ok")])), "What?", store=tmp_path / "a.db")
    assert sync.prompt_of(result.run_id, store=tmp_path / "a.db").differs == ()
