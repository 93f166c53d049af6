"""What tools return beside text, in each provider's own form for results, or behind them."""

from collections.abc import Callable
from typing import Any

import pytest

from clew import Agent, Audio, File, Image, Limits, MemoryStore, read, run, tool
from clew.models.anthropic.messages import anthropic_messages
from clew.models.gemini.model import google_gemini
from clew.models.openai.chat import openai_chat
from clew.models.openai.responses import openai_responses
from clew_testing.servers.anthropic_server import AnthropicServer
from clew_testing.servers.gemini_server import GeminiServer
from clew_testing.servers.http_server import Fail, Say
from clew_testing.servers.openai_server import OpenAIServer
from tests.models.test_attachments import PDF, PNG, WAV, encoded, inline, source, unmarked, url

CALL = Say("", [("fetch", "{}")])
RETURNED = {
    "shot": Image("image/png", PNG, "a stamp"),
    "said": [Audio("audio/wav", WAV, "Pay by Friday.")],
    "bill": File("application/pdf", PDF, "12 euros", name="bill.pdf"),
    "note": File("text/plain", text="thanks", name="note.txt"),
}
RESULT = (
    '{"shot":"a stamp","said":["a recording (audio/wav, 16 bytes)"],'
    '"bill":"a file (bill.pdf, application/pdf, 15 bytes)",'
    '"note":"[file note.txt]\\nthanks\\n[end of the file]"}'
)
HEARD = "(a recording, not heard here; what is spoken: Pay by Friday.)"
SHOWN = "Shown by fetch:"


@tool(effect="read")
def fetch() -> dict[str, Any]:
    """Fetch it."""
    return RETURNED


def of_chat(body: Any) -> Any:
    return [m["content"] for m in body["messages"] if m["role"] != "assistant"][-2:]


def of_responses(body: Any) -> Any:
    return [i["output"] for i in body["input"] if i.get("type") == "function_call_output"]


def of_anthropic(body: Any) -> Any:
    (block,) = unmarked(body["messages"][-1]["content"])
    return block["content"]


def of_gemini(body: Any) -> Any:
    first, *rest = body["contents"][-1]["parts"]
    response = first["functionResponse"]
    return [response["response"]["output"], response.get("parts"), *rest]


FILE = {"filename": "bill.pdf", "file_data": url("application/pdf", PDF)}
CASES: dict[str, tuple[Callable[..., Any], Callable[..., Any], str, Callable[[Any], Any], Any]] = {
    "chat": (
        OpenAIServer,
        openai_chat,
        "some-model",
        of_chat,
        [
            RESULT,
            [
                {"type": "text", "text": SHOWN},
                {"type": "image_url", "image_url": {"url": url("image/png", PNG)}},
                {"type": "input_audio", "input_audio": {"data": encoded(WAV), "format": "wav"}},
                {"type": "file", "file": FILE},
            ],
        ],
    ),
    "responses": (
        OpenAIServer,
        openai_responses,
        "some-model",
        of_responses,
        [
            [
                {"type": "input_text", "text": f"{RESULT}\n{HEARD}"},
                {"type": "input_image", "image_url": url("image/png", PNG)},
                {"type": "input_file"} | FILE,
            ]
        ],
    ),
    "anthropic": (
        AnthropicServer,
        anthropic_messages,
        "some-model",
        of_anthropic,
        [
            {"type": "text", "text": f"{RESULT}\n{HEARD}"},
            {"type": "image", "source": source("image/png", PNG)},
            {"type": "document", "title": "bill.pdf", "source": source("application/pdf", PDF)},
        ],
    ),
    "gemini-2.5": (
        GeminiServer,
        google_gemini,
        "gemini-2.5-flash",
        of_gemini,
        [
            RESULT,
            None,
            {"text": SHOWN},
            inline("image/png", PNG),
            inline("audio/wav", WAV),
            inline("application/pdf", PDF),
        ],
    ),
    "gemini-3": (
        GeminiServer,
        google_gemini,
        "gemini-3-pro",
        of_gemini,
        [
            RESULT,
            [inline("image/png", PNG), inline("application/pdf", PDF)],
            {"text": SHOWN},
            inline("audio/wav", WAV),
        ],
    ),
}


async def sent(name: str, script: list[Any], returns: Any = fetch) -> tuple[list[Any], Any]:
    """The bodies of a run's requests, and what its first call came to."""
    server, make, model_name, _, _ = CASES[name]
    store = MemoryStore()
    with server(script) as opened:
        model = make(model_name, base_url=opened.base_url, api_key="sk-test-0123456789")
        await run(Agent(model=model, tools=[returns]), "What is due?", store=store, run_id="r")
        await model.close()
    record = await read("r", store=store)
    return [request.body for request in opened.requests], record.call("1.1").observation


@pytest.mark.parametrize("name", CASES)
async def test_each_provider_gets_them_in_its_own_form(name: str) -> None:
    (_, body), seen = await sent(name, [CALL, Say("12 euros.")])
    assert CASES[name][3](body) == CASES[name][4]
    assert [type(each) for each in seen.attachments] == [Image, Audio, File]
    assert all(len(each.blob) == 64 for each in seen.attachments)


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        ("gemini-3", "Multimodal function responses are not supported for this model"),
        ("responses", "input[2].function_call_output.output: Input should be a valid string"),
        ("anthropic", "messages.2.content.0.tool_result.content: expected a string"),
    ],
)
async def test_a_server_whose_results_are_text_gets_them_behind(name: str, complaint: str) -> None:
    bodies, _ = await sent(name, [CALL, Fail(400, complaint), Say("12 euros.")])
    assert SHOWN not in str(bodies[1]).replace(f"'text': '{SHOWN}'", "") or name == "gemini-3"
    again = str(bodies[2])
    assert again.index("thanks") < again.index(SHOWN) < again.index(encoded(PNG))
    assert encoded(PDF) in again


@pytest.mark.parametrize("name", ["chat", "responses", "anthropic", "gemini-3"])
async def test_a_server_that_shows_none_is_told_of_them_in_the_result(name: str) -> None:
    complaint = Fail(400, "image input is not supported")
    bodies, _ = await sent(name, [CALL, complaint, Say("12 euros.")])
    again = str(bodies[2])
    assert encoded(PNG) not in again
    assert SHOWN not in again
    assert f"(not shown here: a stamp)\\n{HEARD}\\n[file bill.pdf]\\n12 euros" in again


async def test_what_a_file_says_is_shown_as_far_as_any_result_and_read_on() -> None:
    text = "\n".join(f"line {number} of the bill" for number in range(9_000))

    @tool(effect="read")
    def fetch() -> File:
        """Fetch it."""
        return File("application/pdf", PDF, text, name="bill.pdf")

    more = Say("", [("read_more", '{"handle": "1.1", "query": "8999"}')])
    script = [CALL, Fail(400, "file input is not supported"), more, Say("Seen.")]
    bodies, _ = await sent("chat", script, fetch)
    told = of_chat(bodies[2])[-1]
    assert "line 0 of the bill" in told
    assert "line 8999" not in told
    assert 'characters are left out: read_more("1.1"' in told
    assert "line 8999 of the bill" in of_chat(bodies[3])[-1]


async def test_they_count_against_the_limits_before_the_next_call() -> None:
    @tool(effect="read")
    def fetch() -> list[Image]:
        """Fetch it."""
        return [Image("image/png", PNG + bytes([number])) for number in range(30)]

    server, make, name, _, _ = CASES["chat"]
    with server([CALL, Say("12 euros.")]) as opened:
        model = make(name, base_url=opened.base_url, api_key="sk-test-0123456789")
        agent = Agent(model=model, tools=[fetch], limits=Limits(tokens=20_000, landing=False))
        result = await run(agent, "What is due?")
        await model.close()
    assert (result.status, len(opened.requests)) == ("bound", 1)
