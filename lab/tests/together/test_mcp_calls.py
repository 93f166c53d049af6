"""An agent as a tool: one call is one run, in both eras of the protocol."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jsonschema_rs
import mcp_types as types
import pytest
from mcp import Client, MCPError

from clew import (
    Agent,
    ConfigError,
    Evidence,
    MemoryStore,
    Observation,
    Tool,
    Verdict,
    read,
    tool,
)
from clew.guards import Provenance
from clew.interfaces import CALL
from clew.testing import ScriptedModel, act, finish
from clew.toolbox import HoldQuestions, ask_person
from clew_mcp.serve import ServedAgent, server
from clew_strategies import (
    Auto,
    EvaluatorOptimizer,
    PlanAndSolve,
    Reflexion,
    ReWOO,
    TreeSearch,
    strategy_agent,
)
from tests.serve.served import CORE, ERAS, STATELESS, Letters, Person, keeper, look, words, writer


@dataclass
class Life:
    name: str
    years: list[int]


eras = pytest.mark.parametrize("era", ERAS)


@eras
async def test_a_call_is_a_run_and_its_answer(era: str) -> None:
    store = MemoryStore()
    async with Client(server([keeper()], store=store), mode=era) as client:
        (tool,) = (await client.list_tools()).tools
        assert list(tool.input_schema["properties"]) == ["question", "attachments"]
        result = await client.call_tool("keeper", {"question": "Who keeps it?"})
    structured_content = result.structured_content
    assert (words(result), result.is_error) == ("Nobody keeps it.", False)
    assert (structured_content["answer"], structured_content["status"]) == (
        "Nobody keeps it.",
        "answered",
    )
    assert (await read(structured_content["run_id"], store=store)).goal == "Who keeps it?"
    assert tool.output_schema is not None
    jsonschema_rs.validate(tool.output_schema, structured_content)


@tool(effect="read")
def measure(tower: str) -> str:
    """How high a tower is."""
    return f"{tower} is 40 m high"


@pytest.mark.parametrize(
    ("tools", "text"), [([look], "look"), ([look, measure], "look, measure"), ([], "")]
)
@pytest.mark.parametrize("made", [Reflexion, ReWOO, PlanAndSolve, TreeSearch, Auto])
async def test_an_agent_that_answers_by_a_strategy_shows_the_tools_that_it_works_with(
    made: Callable[[Agent], Any], tools: list[Tool], text: str
) -> None:
    inner = keeper([finish("Nobody.")], tools).agent
    composed = strategy_agent(made(inner), inner)
    nested = strategy_agent(EvaluatorOptimizer(composed), composed)
    served = [ServedAgent("one", composed), ServedAgent("two", nested)]
    async with Client(server(served, store=MemoryStore()), mode=CORE) as client:
        listed = (await client.list_tools()).tools
    told = [str(tool.description).partition("minutes.")[2] for tool in listed]
    assert told == ([f" Its tools: {text}."] * 2 if text else ["", ""])


@eras
async def test_a_result_has_the_evidence_that_its_answer_cites(era: str) -> None:
    async def call(args: dict[str, Any], key: str) -> Observation:
        pieces = (Evidence("d1", "Ada keeps it.", source="log.txt"), Evidence("d2", "It is red."))
        return Observation(content="[d1] Ada keeps it. [d2] It is red.", evidence=pieces)

    search = Tool(
        "search", "Search.", {"type": "object", "properties": {}}, call=call, effect="read"
    )
    served = keeper([act("search"), finish("Ada does [d1].")], [search])
    async with Client(server([served], store=MemoryStore()), mode=era) as client:
        result = await client.call_tool("keeper", {"question": "Who keeps it?"})
    assert result.structured_content["evidence"] == [
        {"id": "d1", "source": "log.txt", "text": "Ada keeps it."}
    ]
    assert "log.txt" in words(result)


@eras
async def test_progress_names_the_run_and_its_steps(era: str) -> None:
    told: list[tuple[float, str | None]] = []

    async def on_progress(progress: float, total: float | None, message: str | None) -> None:
        told.append((progress, message))

    async with Client(server([keeper()], store=MemoryStore()), mode=era) as client:
        result = await client.call_tool(
            "keeper", {"question": "Who?"}, progress_callback=on_progress
        )
    assert [message for _, message in told] == [
        f"run {result.structured_content['run_id']}", "step 1: look", "step 2: finish",
    ]  # fmt: skip
    assert [progress for progress, _ in told] == sorted({progress for progress, _ in told})


@eras
@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ({}, "`question`"),
        ({"question": 3}, "`question`"),
        ({"question": "Who?", "model": "gpt"}, "`question`"),
        ({"question": " "}, "empty"),
        ({"question": "x" * 101}, "may have 100"),
    ],
)
async def test_wrong_arguments_begin_no_run(era: str, arguments: dict[str, Any], why: str) -> None:
    store = MemoryStore()
    async with Client(server([keeper()], store=store, longest=100), mode=era) as client:
        result = await client.call_tool("keeper", arguments)
        assert result.is_error
        assert why in words(result)
    assert await store.runs() == []


@eras
async def test_an_unknown_tool_is_an_error_of_the_protocol(era: str) -> None:
    async with Client(server([keeper()], store=MemoryStore()), mode=era) as client:
        with pytest.raises(MCPError, match="Unknown tool: nobody"):
            await client.call_tool("nobody", {"question": "Who?"})


@eras
async def test_a_held_call_is_put_to_the_person_whose_answer_is_the_ruling(era: str) -> None:
    letters, person = Letters(), Person(allow=True, why="Ada waits")
    served = server([writer(letters)], store=MemoryStore())
    async with Client(served, mode=era, elicitation_callback=person) as client:
        result = await client.call_tool("keeper", {"question": "Write to Ada."})
    assert words(result) == "It is sent."
    assert letters.sent == ["Dear Ada"]
    (question,) = person.requests
    assert "send" in question.message
    assert '"Dear Ada"' in question.message
    assert "letters need a person" in question.message


@eras
@pytest.mark.parametrize("person", [Person(allow=False), Person("decline")], ids=["no", "decline"])
async def test_a_refused_call_is_not_made(era: str, person: Person) -> None:
    letters, store = Letters(), MemoryStore()
    served = server([writer(letters)], store=store)
    async with Client(served, mode=era, elicitation_callback=person) as client:
        result = await client.call_tool("keeper", {"question": "Write to Ada."})
    record = await read(result.structured_content["run_id"], store=store)
    observation = record.call("1.1").observation
    assert observation is not None
    assert (letters.sent, observation.ok, observation.code) == ([], False, "denied")


@eras
async def test_without_forms_the_result_says_what_is_held_and_how_to_rule(era: str) -> None:
    letters = Letters()
    async with Client(server([writer(letters)], store=MemoryStore()), mode=era) as client:
        result = await client.call_tool("keeper", {"question": "Write to Ada."})
    structured_content = result.structured_content
    assert (structured_content["status"], result.is_error, letters.sent) == ("held", True, [])
    assert structured_content["pending"][0]["arguments"] == {"text": "Dear Ada"}
    assert f"clew approve {structured_content['run_id']}:1.1:" in words(result)


async def test_a_dismissed_form_leaves_the_call_held() -> None:
    letters = Letters()
    served = server([writer(letters)], store=MemoryStore())
    async with Client(served, mode=CORE, elicitation_callback=Person("cancel")) as client:
        result = await client.call_tool("keeper", {"question": "Write to Ada."})
    assert (result.structured_content["status"], letters.sent) == ("held", [])


@eras
async def test_a_question_of_the_agent_is_a_form_for_its_answer(era: str) -> None:
    tools = [ask_person()]
    script = [act("ask_person", question="Which Ada?"), finish("Lovelace.")]
    agent = keeper(script, tools, guards=[HoldQuestions()])
    person = Person(answer="Lovelace")
    store = MemoryStore()
    served = server([agent], store=store)
    async with Client(served, mode=era, elicitation_callback=person) as client:
        result = await client.call_tool("keeper", {"question": "Write to Ada."})
    assert person.requests[0].message == "Which Ada?"
    record = await read(result.structured_content["run_id"], store=store)
    assert record.call("1.1").args["answer"] == "Lovelace"


@eras
@pytest.mark.parametrize(
    ("asks", "content", "answer"),
    [
        (
            {"type": "object", "properties": {"door": {"type": "integer"}}, "required": ["door"]},
            {"door": 3},
            {"door": 3},
        ),
        ({"type": "string"}, {"answer": "green"}, "green"),
        ({"type": "array", "items": {"type": "integer"}}, {"answer": "[1, 2]"}, [1, 2]),
    ],
    ids=["flat", "plain", "nested"],
)
async def test_what_a_tool_asks_in_mid_call_is_a_form(
    era: str, asks: dict[str, Any], content: dict[str, Any], answer: Any
) -> None:
    async def call(args: dict[str, Any], key: str) -> Any:
        now = CALL.get()
        if now is None or now.answer is None:
            return Verdict("hold", "which one?", asks=asks)
        return {"given": now.answer}

    opens = Tool(name="open", description="Open it.", parameters={"type": "object"}, call=call)
    script = [act("open"), finish("It is open.")]
    store = MemoryStore()
    off = [Provenance("off")]  # a client's question is nobody's words here
    served = server([keeper(script, [opens], guards=off)], store=store)
    async with Client(served, mode=era, elicitation_callback=Person(**content)) as client:
        result = await client.call_tool("keeper", {"question": "Open it."})
    observation = (
        (await read(result.structured_content["run_id"], store=store)).call("1.1").observation
    )
    assert observation is not None
    assert observation.content == {"given": answer}


async def test_a_request_state_of_another_call_is_refused() -> None:
    letters = Letters()
    async with Client(server([writer(letters)], store=MemoryStore()), mode=STATELESS) as client:
        held = await client.call_tool("keeper", {"question": "Write to Ada."})
        run_id = held.structured_content["run_id"]
        for state in (run_id, "20260101-000000-00000000"):
            answer = await client.session.call_tool(
                "keeper", {"question": "Write to Bob."}, request_state=state
            )
            assert isinstance(answer, types.CallToolResult)
            assert answer.is_error
    assert letters.sent == []


@eras
async def test_a_model_that_fails_is_told_and_its_run_stays_open(era: str) -> None:
    store = MemoryStore()
    served = server([keeper([act("look", place="Skerry")])], store=store)
    async with Client(served, mode=era) as client:
        result = await client.call_tool("keeper", {"question": "Who?"})
    structured_content = result.structured_content
    assert (structured_content["status"], result.is_error) == ("open", True)
    assert "the script is over" in words(result)
    assert (await read(structured_content["run_id"], store=store)).stop is None


@eras
async def test_an_answer_of_another_type_fits_the_declared_schema(era: str) -> None:
    served = keeper([finish({"name": "Ada", "years": [1815, 1852]})], [], answer=Life)
    async with Client(server([served], store=MemoryStore()), mode=era) as client:
        (tool,) = (await client.list_tools()).tools
        result = await client.call_tool("keeper", {"question": "Who?"})
    assert result.structured_content["answer"] == {"name": "Ada", "years": [1815, 1852]}
    assert json.loads(words(result)) == {"name": "Ada", "years": [1815, 1852]}
    assert tool.output_schema is not None
    jsonschema_rs.validate(tool.output_schema, result.structured_content)
    assert not jsonschema_rs.is_valid(tool.output_schema, {"run_id": "1", "status": "x"})


async def test_of_agents_that_are_alike_the_one_that_was_called_answers() -> None:
    agents = [
        ServedAgent(name, Agent(ScriptedModel([finish(name)]))) for name in ("first", "second")
    ]
    async with Client(server(agents, store=MemoryStore()), mode=CORE) as client:
        for name in ("second", "first"):
            assert words(await client.call_tool(name, {"question": "Who?"})) == name


def test_agents_that_do_not_fit_together_are_refused() -> None:
    agent = Agent(ScriptedModel([]))
    with pytest.raises(ConfigError, match="two agents have the name keeper"):
        server([keeper(), keeper()])
    with pytest.raises(ConfigError, match="no agent to serve"):
        server([])
    with pytest.raises(ConfigError, match="cannot be the name of a tool"):
        ServedAgent("the keeper", agent)
