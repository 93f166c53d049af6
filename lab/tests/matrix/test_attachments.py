"""Each door that takes an attachment, by each kind of attachment, by each provider's wire.

A model is shown what its wire takes, as its bytes; of all else it reads the words.
"""

import base64
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import anyio
import pytest
from mcp import Client

from clew import (
    Agent,
    Audio,
    ConfigError,
    File,
    Image,
    MemoryStore,
    batch,
    delegate,
    fork,
    open_store,
    resume,
    run,
    submit,
    tool,
)
from clew.agent_files import agent_named
from clew.conversations import answer_messages, branch
from clew.guards import Provenance
from clew.models.anthropic.messages import anthropic_messages
from clew.models.gemini.model import google_gemini
from clew.models.http.endpoint import Endpoint
from clew.models.openai.chat import openai_chat
from clew.models.openai.completions import openai_completions
from clew.models.openai.responses import openai_responses
from clew.testing import ScriptedModel, act, finish
from clew.workers import WorkerConfig, work
from clew_evals.dataset import read_dataset
from clew_evals.plan import Configuration, Plan
from clew_evals.runner import evaluate
from clew_evals.world import World
from clew_mcp.serve import ServedAgent, server
from clew_strategies import vote
from clew_testing.servers.anthropic_server import AnthropicServer
from clew_testing.servers.gemini_server import GeminiServer
from clew_testing.servers.http_server import Say
from clew_testing.servers.openai_server import OpenAIServer

pytestmark = [pytest.mark.anyio, pytest.mark.parametrize("anyio_backend", ["asyncio"])]

PARTS: dict[str, Image | Audio | File] = {
    "picture": Image("image/png", b"\x89PNG\r\n\x1a\n" + bytes(20), "a stamp of Malta"),
    "recording": Audio("audio/wav", b"RIFF\x00\x00\x00\x00WAVEfmt ", "pay by Friday"),
    "pdf": File("application/pdf", b"%PDF-1.4 a bill", "12 euros are due", name="bill.pdf"),
    "text": File("text/plain", text="thanks in advance", name="note.txt"),
}


@dataclass(frozen=True)
class Wire:
    """How a model is reached, and which of `PARTS` it is shown."""

    server: Callable[..., Any]
    model: Callable[..., Endpoint]
    shows: frozenset[str]
    name: str = "some-model"
    codec: str = "native"
    prefix: str = ""
    """What a reply in the model's format begins with."""


WIRES = {
    "chat": Wire(OpenAIServer, openai_chat, frozenset({"picture", "recording", "pdf"})),
    "responses": Wire(OpenAIServer, openai_responses, frozenset({"picture", "pdf"})),
    "anthropic": Wire(AnthropicServer, anthropic_messages, frozenset({"picture", "pdf"})),
    "gemini-2.5": Wire(
        GeminiServer, google_gemini, frozenset({"picture", "recording", "pdf"}), "gemini-2.5-flash"
    ),
    "gemini-3": Wire(
        GeminiServer, google_gemini, frozenset({"picture", "recording", "pdf"}), "gemini-3-pro"
    ),
    "text format": Wire(
        OpenAIServer, openai_chat, frozenset({"picture", "recording", "pdf"}),
        codec="labelled", prefix="Final Answer: ",
    ),
    "completions": Wire(
        OpenAIServer, openai_completions, frozenset(), codec="labelled", prefix="Final Answer: "
    ),
}  # fmt: skip

Part = Image | Audio | File
Door = Callable[[Agent[Any], Part, Path], Awaitable[None]]


async def by_run(agent: Agent[Any], part: Part, folder: Path) -> None:
    await run(agent, ["What is it?", part])


async def by_say(agent: Agent[Any], part: Part, folder: Path) -> None:
    store = MemoryStore()
    await run(agent, "Are you there?", store=store, run_id="r")
    await resume(agent, "r", say=["What is it?", part], store=store)


async def by_session(agent: Agent[Any], part: Part, folder: Path) -> None:
    store = MemoryStore()
    await run(agent, "Are you there?", store=store, session="ada")
    await run(agent, ["What is it?", part], store=store, session="ada")


async def by_submit(agent: Agent[Any], part: Part, folder: Path) -> None:
    store = open_store(folder / "runs.sqlite")
    await submit(agent, ["What is it?", part], store=store)
    await work(WorkerConfig(store=store, agents=[agent], until_idle=True))
    await store.close()


async def by_mcp(agent: Agent[Any], part: Part, folder: Path) -> None:
    data = part.data or part.text.encode()
    attached = {"mimeType": part.media_type, "data": base64.b64encode(data).decode()}
    attached |= {"text": part.text} if part.data else {}
    async with Client(server([ServedAgent("seer", agent)], store=MemoryStore())) as client:
        await client.call_tool("seer", {"question": "What is it?", "attachments": [attached]})


async def by_fork(agent: Agent[Any], part: Part, folder: Path) -> None:
    store = MemoryStore()
    await run(agent, "Are you there?", store=store, run_id="r")
    await fork(agent, "r", at=1, say=["What is it?", part], store=store)


async def by_changed_question(agent: Agent[Any], part: Part, folder: Path) -> None:
    store = MemoryStore()
    await run(agent, "Are you there?", store=store, run_id="r")
    await branch(agent, "r", 1, ["What is it?", part], store=store)


async def by_batch(agent: Agent[Any], part: Part, folder: Path) -> None:
    await batch(agent, [["What is it?", part]], store=MemoryStore())


async def by_vote(agent: Agent[Any], part: Part, folder: Path) -> None:
    await vote(agent, ["What is it?", part], 2, store=MemoryStore())


async def by_sub_agent(agent: Agent[Any], part: Part, folder: Path) -> None:
    looks = delegate(agent, name="look", description="Looks.", attachments=True)
    script = ScriptedModel([act("look", task="Say what it is."), finish("Seen.")])
    parent = Agent(script, tools=[looks], guards=[Provenance("off")])
    await run(parent, ["What is it?", part], store=MemoryStore())


DOORS: dict[str, Door] = {
    "run": by_run,
    "fork": by_fork,
    "changed question": by_changed_question,
    "batch": by_batch,
    "vote": by_vote,
    "sub-agent": by_sub_agent,
    "say": by_say,
    "session": by_session,
    "submit": by_submit,
    "mcp": by_mcp,
}


def wire_model(wire: Wire, opened: Any) -> Endpoint:
    return wire.model(wire.name, base_url=opened.base_url, api_key="sk-test-0123456789")


def check_wire(part: str, wire: Wire, body: Any) -> None:
    """The request has the bytes where its wire takes them, and else the words."""
    sent, data = json.dumps(body, ensure_ascii=False), PARTS[part].data
    if part in wire.shows:
        assert base64.b64encode(data).decode() in sent
        return
    assert not data or base64.b64encode(data).decode() not in sent
    assert PARTS[part].text in sent


@pytest.mark.parametrize("wire_name", WIRES)
@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("door", DOORS)
async def test_what_is_asked(door: str, part: str, wire_name: str, tmp_path: Path) -> None:
    wire = WIRES[wire_name]
    with wire.server([Say(f"{wire.prefix}Seen.")] * 2) as opened:
        model = wire_model(wire, opened)
        with anyio.fail_after(60):
            await DOORS[door](Agent(model=model, codec=wire.codec), PARTS[part], tmp_path)
        await model.close()
        check_wire(part, wire, opened.requests[-1].body)


@pytest.mark.parametrize("wire_name", [name for name, wire in WIRES.items() if wire.shows])
@pytest.mark.parametrize("part", PARTS)
async def test_what_messages_have_from_elsewhere(part: str, wire_name: str) -> None:
    wire, one = WIRES[wire_name], PARTS[part]
    if part == "recording" and part not in wire.shows:
        return  # messages have no words for one
    data = base64.b64encode(one.data or one.text.encode()).decode()
    url = f"data:{one.media_type};base64,{data}"
    block: dict[str, Any] = {
        "picture": {"type": "image_url", "image_url": {"url": url}},
        "recording": {"type": "input_audio", "input_audio": {"format": "wav", "data": data}},
    }.get(part, {"type": "file", "file": {"filename": "it", "file_data": url}})
    with wire.server([Say(f"{wire.prefix}Seen.")]) as opened:
        model = wire_model(wire, opened)
        await answer_messages(
            Agent(model=model, codec=wire.codec), [{"role": "user", "content": [block]}],
            store=MemoryStore(),
        )  # fmt: skip
        await model.close()
        check_wire(part, wire, opened.requests[-1].body)


@pytest.mark.parametrize("wire_name", [name for name, wire in WIRES.items() if not wire.prefix])
@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("inside", ["alone", "in a list", "in a dict"])
async def test_what_a_tool_returns(inside: str, part: str, wire_name: str) -> None:
    @tool(effect="read")
    def fetch() -> Any:
        """Fetch it."""
        one = PARTS[part]
        return {"alone": one, "in a list": [one], "in a dict": {"it": {"is": one}}}[inside]

    wire = WIRES[wire_name]
    with wire.server([Say("", [("fetch", "{}")]), Say("Seen.")]) as opened:
        model = wire_model(wire, opened)
        result = await run(Agent(model=model, tools=[fetch]), "What is it?")
        await model.close()
        assert result.answer == "Seen."
        check_wire(part, wire, opened.requests[-1].body)


@pytest.mark.parametrize("wire_name", WIRES)
@pytest.mark.parametrize("part", ["picture", "text"])
async def test_what_goes_with_a_case(part: str, wire_name: str, tmp_path: Path) -> None:
    wire, one = WIRES[wire_name], PARTS[part]
    (tmp_path / "it").write_bytes(one.data or one.text.encode())
    case = {"id": "a", "question": "What is it?", "gold": "Seen.", "attachments": ["it"]}
    (tmp_path / "cases.jsonl").write_text(json.dumps(case))
    cases = tuple(read_dataset(tmp_path / "cases.jsonl"))
    with wire.server([Say(f"{wire.prefix}Seen.")]) as opened:
        agent = Agent(model=(model := wire_model(wire, opened)), codec=wire.codec)
        world = World("cases", cases, folder=tmp_path)
        plan = Plan(name="p", world=world, configurations=[Configuration("plain", agent)])
        if part not in wire.shows and one.data:  # it has no words
            with pytest.raises(ConfigError, match="takes no pictures of the type image/png"):
                await evaluate(plan, tmp_path / "runs.sqlite")
        else:
            await evaluate(plan, tmp_path / "runs.sqlite")
            check_wire(part, wire, opened.requests[-1].body)
        await model.close()


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("attachments", ["true", "false"])
async def test_an_agent_file_hands_them_on(attachments: str, part: str, tmp_path: Path) -> None:
    look = Say("", [("look", '{"task": "Say what it is."}')])
    with OpenAIServer([look, Say("Seen."), Say("It is that.")]) as opened:
        model = f'model = "openai:some-model"\n[connection]\nbase_url = "{opened.base_url}"\n'
        (tmp_path / "look.toml").write_text(model)
        (file := tmp_path / "agent.toml").write_text(
            f'{model}[[agents]]\nname = "look"\ndescription = "Looks."\nfile = "look.toml"\n'
            f"attachments = {attachments}\n"
        )
        agent, _ = await agent_named(str(file))
        await run(agent, ["What is it?", PARTS[part]], store=MemoryStore())
        looks: Any = next(each for each in agent.tools if each.name == "look")
        for each in (agent, looks.run.agent):
            await cast("Endpoint", each.engine.model).close()
        asked = opened.requests[1].body
        assert "Say what it is." in json.dumps(asked)
        if attachments == "true":
            check_wire(part, WIRES["chat"], asked)
        else:
            assert '"data:' not in json.dumps(asked)
            assert "input_audio" not in json.dumps(asked)
            assert PARTS[part].text not in json.dumps(asked)


@pytest.mark.parametrize("part", PARTS)
async def test_an_agent_file_is_asked_with_it(part: str, tmp_path: Path) -> None:
    with OpenAIServer([Say("Seen.")]) as opened:
        (file := tmp_path / "agent.toml").write_text(
            f'model = "openai:some-model"\n[connection]\nbase_url = "{opened.base_url}"\n'
        )
        agent, _ = await agent_named(str(file))
        await run(agent, ["What is it?", PARTS[part]], store=MemoryStore())
        await cast("Endpoint", agent.engine.model).close()
        check_wire(part, WIRES["chat"], opened.requests[-1].body)
