"""What is attached to a question, in each provider's own form, or told where it has none."""

import base64
from collections.abc import Callable
from typing import Any

import pytest

from clew import Agent, Audio, File, Image, run
from clew.models.anthropic.messages import anthropic_messages
from clew.models.gemini.model import google_gemini
from clew.models.openai.chat import openai_chat
from clew.models.openai.completions import openai_completions
from clew.models.openai.responses import openai_responses
from clew_testing.servers.anthropic_server import AnthropicServer
from clew_testing.servers.gemini_server import GeminiServer
from clew_testing.servers.http_server import Fail, Say
from clew_testing.servers.openai_server import OpenAIServer

PNG = b"\x89PNG\r\n\x1a\n" + bytes(20)
WAV = b"RIFF\x00\x00\x00\x00WAVEfmt "
PDF = b"%PDF-1.4 a bill"
ASKED: list[Any] = [
    "What is due?",
    Image("image/png", PNG, "a stamp"),
    Audio("audio/wav", WAV, "Pay by Friday."),
    File("application/pdf", PDF, "12 euros", name="bill.pdf"),
    File("text/plain", b"thanks", "thanks", name="note.txt"),
]
IN_PLACE = (
    "What is due?\n\n[attached: a stamp]\n\n[attached: Pay by Friday.]\n\n"
    "[attached: application/pdf]\n\n[attached: text/plain]"
)
NOTE = "[file note.txt]\nthanks\n[end of the file]"
BILL = "[file bill.pdf]\n12 euros\n[end of the file]"
HEARD = "(a recording, not heard here; what is spoken: Pay by Friday.)"


def encoded(data: bytes) -> str:
    return base64.b64encode(data).decode()


def url(kind: str, data: bytes) -> str:
    return f"data:{kind};base64,{encoded(data)}"


def inline(kind: str, data: bytes) -> dict[str, Any]:
    return {"inlineData": {"mimeType": kind, "data": encoded(data)}}


def source(kind: str, data: bytes) -> dict[str, Any]:
    return {"type": "base64", "media_type": kind, "data": encoded(data)}


def of_chat(body: Any) -> Any:
    return body["messages"][-1]["content"]


def of_responses(body: Any) -> Any:
    return body["input"][-1]["content"]


def of_gemini(body: Any) -> Any:
    return body["contents"][-1]["parts"]


def unmarked(blocks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Anthropic's blocks without the marks of its cache."""
    return [{k: v for k, v in block.items() if k != "cache_control"} for block in blocks]


Make = Callable[..., Any]
CASES: dict[str, tuple[Callable[..., Any], Make, Callable[[Any], Any], Any]] = {
    "chat": (
        OpenAIServer,
        openai_chat,
        of_chat,
        [
            {"type": "text", "text": f"{IN_PLACE}\n{NOTE}"},
            {"type": "image_url", "image_url": {"url": url("image/png", PNG)}},
            {"type": "input_audio", "input_audio": {"data": encoded(WAV), "format": "wav"}},
            {
                "type": "file",
                "file": {"filename": "bill.pdf", "file_data": url("application/pdf", PDF)},
            },
        ],
    ),
    "responses": (
        OpenAIServer,
        openai_responses,
        of_responses,
        [
            {"type": "input_text", "text": f"{IN_PLACE}\n{HEARD}\n{NOTE}"},
            {"type": "input_image", "image_url": url("image/png", PNG)},
            {
                "type": "input_file",
                "filename": "bill.pdf",
                "file_data": url("application/pdf", PDF),
            },
        ],
    ),
    "anthropic": (
        AnthropicServer,
        anthropic_messages,
        lambda body: unmarked(of_chat(body)),
        [
            {"type": "text", "text": f"{IN_PLACE}\n{HEARD}\n{NOTE}"},
            {"type": "image", "source": source("image/png", PNG)},
            {"type": "document", "title": "bill.pdf", "source": source("application/pdf", PDF)},
        ],
    ),
    "gemini": (
        GeminiServer,
        google_gemini,
        of_gemini,
        [
            {"text": f"{IN_PLACE}\n{NOTE}"},
            inline("image/png", PNG),
            inline("audio/wav", WAV),
            inline("application/pdf", PDF),
        ],
    ),
}


async def sent(server: Callable[..., Any], make: Make, script: list[Any]) -> list[Any]:
    """The bodies of a run's requests."""
    with server(script) as opened:
        model = make("some-model", base_url=opened.base_url, api_key="sk-test-0123456789")
        result = await run(Agent(model=model), ASKED)
        await model.close()
    assert result.answer == "12 euros."
    return [request.body for request in opened.requests]


@pytest.mark.parametrize("name", CASES)
async def test_each_provider_gets_it_in_its_own_form(name: str) -> None:
    server, make, content, wanted = CASES[name]
    (body,) = await sent(server, make, [Say("12 euros.")])
    assert content(body) == wanted


@pytest.mark.parametrize("name", ["chat", "anthropic", "gemini"])
@pytest.mark.parametrize(
    "complaint",
    ["image input is not supported", "audio input is not supported", "file input is not supported"],
)
async def test_what_a_server_refuses_is_told_in_words(name: str, complaint: str) -> None:
    server, make, content, _ = CASES[name]
    _, again = await sent(server, make, [Fail(400, complaint), Say("12 euros.")])
    told = content(again)
    text = told if isinstance(told, str) else told[0]["text"]
    assert text == f"{IN_PLACE}\n(not shown here: a stamp)\n{HEARD}\n{BILL}\n{NOTE}"
    assert isinstance(told, str) or len(told) == 1


async def test_a_model_that_continues_texts_gets_words() -> None:
    with OpenAIServer([Say("Final Answer: 12 euros.")]) as server:
        model = openai_completions("base", base_url=server.base_url, api_key="sk-test-0123456789")
        await run(Agent(model=model, codec="labelled"), ASKED)
        await model.close()
    assert f"{IN_PLACE}\n(not shown here: a stamp)\n{HEARD}" in server.requests[0].body["prompt"]
