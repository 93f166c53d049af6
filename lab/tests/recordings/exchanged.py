"""Exchanges written for the tests, in the form of the recordings: every kind of case, made up."""

import json
from typing import Any

Record = dict[str, Any]

LOOK: dict[str, Any] = {
    "type": "object",
    "properties": {"place": {"type": "string"}},
    "required": ["place"],
}
USED = {"prompt_tokens": 20, "completion_tokens": 9, "total_tokens": 29}


def record(name: str, *interactions: Record) -> Record:
    return {"id": name, "interactions": list(interactions)}


def answered(uri: str, request: Any, body: Any, status: int = 200) -> Record:
    return {
        "uri": uri,
        "request": request,
        "status": status,
        "content_type": "application/json",
        "response_json": body,
        "response_text": None,
    }


def streamed(uri: str, request: Any, *events: Any, done: bool = False, end: str = "\n\n") -> Record:
    lines = [f"data: {json.dumps(event, ensure_ascii=False)}{end}" for event in events]
    text = "".join([*lines, *(["data: [DONE]\n\n"] if done else [])])
    return answered(uri, request, None) | {
        "content_type": "text/event-stream; charset=utf-8",
        "response_text": text,
    }


# ---------------------------------------------------------------- Chat Completions

CHAT = "https://api.openai.com/v1/chat/completions"
MISTRAL = "https://api.mistral.ai/v1/chat/completions"
SOMEWHERE = "https://models.example.com/v1/chat/completions"


def chat_request(**more: Any) -> Record:
    function = {"name": "look", "description": "Look at a place.", "parameters": LOOK}
    tools = [{"type": "function", "function": function}]
    return {"model": "a-model", "tools": tools} | more


def chat(finish: str, usage: Any = USED, **message: Any) -> Record:
    choice = {"index": 0, "finish_reason": finish, "message": {"role": "assistant"} | message}
    return {"model": "a-model", "choices": [choice], "usage": usage}


def look(location: str = "Łódź", id_: str = "call_1") -> Record:
    arguments = json.dumps({"place": location})
    return {"id": id_, "type": "function", "function": {"name": "look", "arguments": arguments}}


def delta(finish: str | None = None, **value: Any) -> Record:
    return {"model": "a-model", "choices": [{"index": 0, "delta": value, "finish_reason": finish}]}


def piece(arguments: str, **more: Any) -> Record:
    function = {"arguments": arguments} | ({"name": "look"} if more else {})
    return {"tool_calls": [{"index": 0, "function": function} | more]}


REPLIES = (
    delta(role="assistant", content=""),
    delta(content="I will "),
    delta(content="look — 🧶."),
    delta(**piece("", id="call_9", type="function")),
    delta(**piece('{"pla')),
    delta(**piece('ce": "Łódź"}')),
    delta("tool_calls"),
)

# ---------------------------------------------------------------- Responses

RESPONSES = "https://api.openai.com/v1/responses"
TOKENS = {
    "input_tokens": 30,
    "output_tokens": 12,
    "input_tokens_details": {"cached_tokens": 8},
    "output_tokens_details": {"reasoning_tokens": 4},
}


def responses_request() -> Record:
    tool = {"type": "function", "name": "look", "description": "Look.", "parameters": LOOK}
    return {"model": "a-model", "tools": [tool, {"type": "web_search"}]}


def response(*items: Record, **more: Any) -> Record:
    return {"model": "a-model", "status": "completed", "output": items, "usage": TOKENS} | more


def message(text: str, number: int = 1, **more: Any) -> Record:
    block: Record = {"type": "output_text", "text": text, "annotations": []}
    fields = {"type": "message", "id": f"msg_{number}", "role": "assistant", "status": "completed"}
    return fields | {"content": [block]} | more


THOUGHT: Record = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "sealed"}
CALL: Record = {
    "type": "function_call",
    "id": "fc_1",
    "call_id": "call_1",
    "name": "look",
    "arguments": '{"place":"Łódź"}',
    "status": "completed",
}
SEARCHED: Record = {
    "type": "web_search_call",
    "id": "ws_1",
    "status": "completed",
    "action": {"type": "search", "query": "mills"},
}
RECORD: Record = {
    "type": "tool_search_call",
    "id": "ts_1",
    "call_id": None,
    "execution": "server",
    "arguments": {"paths": ["look"]},
    "status": "completed",
}

# ---------------------------------------------------------------- Messages

MESSAGES = "https://api.anthropic.com/v1/messages?beta=true"
TOOK = {"input_tokens": 10, "output_tokens": 7, "cache_read_input_tokens": 5}


def messages_request() -> Record:
    tool = {"name": "look", "description": "Look.", "input_schema": LOOK}
    return {"model": "a-model", "max_tokens": 100, "tools": [tool, {"type": "web_fetch_1"}]}


def messages(stop: str, *content: Record) -> Record:
    return {"model": "a-model", "content": content, "stop_reason": stop, "usage": TOOK}


USE: Record = {"type": "tool_use", "id": "toolu_1", "name": "look", "input": {"place": "Łódź"}}
FETCH: Record = {"type": "server_tool_use", "id": "srv_1", "name": "web_fetch", "input": {}}
FETCHED: Record = {
    "type": "web_fetch_tool_result",
    "tool_use_id": "srv_1",
    "content": {"type": "web_fetch_tool_result_error", "error_code": "unavailable"},
}


def grown(index: int, kind: str, key: str, value: str) -> Record:
    piece = {"type": f"{kind}_delta", key: value}
    return {"type": "content_block_delta", "index": index, "delta": piece}


def block(index: int, content: Record) -> Record:
    return {"type": "content_block_start", "index": index, "content_block": content}


GROWING = (
    {"type": "message_start", "message": messages("", *()) | {"stop_reason": None}},
    block(0, {"type": "thinking", "thinking": "", "signature": ""}),
    grown(0, "thinking", "thinking", "A page "),
    grown(0, "thinking", "thinking", "helps."),
    grown(0, "signature", "signature", "c2lnbmVk"),
    {"type": "content_block_stop", "index": 0},
    block(1, FETCH),
    grown(1, "input_json", "partial_json", '{"url": "https:'),
    grown(1, "input_json", "partial_json", '//example.com"}'),
    block(2, FETCHED),
    block(3, {"type": "text", "text": ""}),
    grown(3, "text", "text", "It is away — "),
    grown(3, "text", "text", "so I look."),
    block(4, USE | {"input": {}}),
    grown(4, "input_json", "partial_json", '{"place": '),
    grown(4, "input_json", "partial_json", '"Łódź"}'),
    {
        "type": "message_delta",
        "delta": {"stop_reason": "tool_use"},
        "usage": {"output_tokens": 9},
    },
    {"type": "message_stop"},
)

# ---------------------------------------------------------------- Gemini

GEMINI = "https://generativelanguage.googleapis.com/v1beta/models/gemini-3-x:generateContent"
GEMINI_STREAM = GEMINI.replace("generateContent", "streamGenerateContent?alt=sse")


def gemini_request() -> Record:
    declared = {"name": "look", "description": "Look.", "parameters_json_schema": LOOK}
    return {"tools": [{"functionDeclarations": [declared]}, {"codeExecution": {}}]}


def candidate(*parts: Record, finish: str | None = None, **usage: int) -> Record:
    one: Record = {"content": {"role": "model", "parts": parts}, "index": 0}
    took = {"promptTokenCount": 11, "candidatesTokenCount": 4, "thoughtsTokenCount": 3} | usage
    ended = {"finishReason": finish} if finish else {}
    return {"candidates": [one | ended], "usageMetadata": took, "modelVersion": "gemini-3-x"}


LOOKS: Record = {
    "functionCall": {"name": "look", "args": {"place": "Łódź"}},
    "thoughtSignature": "c2VhbGVk",
}

# ---------------------------------------------------------------- all of them

RIGHT = [
    record(
        "chat",
        answered(CHAT, chat_request(), chat("tool_calls", content=None, tool_calls=[look()])),
        answered(CHAT, chat_request(), chat("stop", content="Mills, mostly.")),
        answered(CHAT, chat_request(), chat("length", content="Mills and")),
        answered(CHAT, chat_request(), chat("stop", content=None, refusal="I will not.")),
    ),
    record(
        "chat elsewhere",
        answered(
            MISTRAL, chat_request(), chat("stop", USED | {"num_cached_tokens": 19}, content="M")
        ),
        answered(
            SOMEWHERE,
            chat_request(),
            chat(
                "",
                USED | {"cached_tokens": 3},
                content="Hm.",
                function_call={"name": "", "arguments": ""},
                tool_calls=[look()],
            ),
        ),
        answered(SOMEWHERE, chat_request(), chat("stop", content="<think>Hm.</think>\n\nMills.")),
        answered(
            SOMEWHERE,
            chat_request(),
            {"error": {"message": "Overloaded by wool.", "code": "wool"}},
            400,
        ),
    ),
    record(
        "chat stream",
        streamed(
            CHAT, chat_request(stream=True), *REPLIES, {"choices": [], "usage": USED}, done=True
        ),
        streamed(
            CHAT, chat_request(stream=True), delta(content="Mills."), delta("stop"), done=True
        ),
    ),
    record(
        "chat stream with an error",
        streamed(
            CHAT, chat_request(), delta(content="Mi"), {"error": {"message": "Wool ran out."}}
        ),
    ),
    record("chat stream without its end", streamed(CHAT, chat_request(), *REPLIES[:3])),
    record(
        "responses",
        answered(RESPONSES, responses_request(), response(THOUGHT, CALL)),
        answered(
            RESPONSES,
            responses_request(),
            response(SEARCHED, RECORD, message("Mills."), message("And wool.", 2)),
        ),
        answered(
            RESPONSES,
            responses_request(),
            response(
                message("Mi"),
                status="incomplete",
                incomplete_details={"reason": "max_output_tokens"},
            ),
        ),
        answered(RESPONSES, responses_request(), response(status="queued", usage=None)),
    ),
    record(
        "responses stream",
        streamed(
            RESPONSES,
            responses_request(),
            {
                "type": "response.output_item.added",
                "output_index": 0,
                "item": CALL | {"arguments": ""},
            },
            {
                "type": "response.function_call_arguments.delta",
                "output_index": 0,
                "delta": '{"place":',
            },
            {
                "type": "response.function_call_arguments.delta",
                "output_index": 0,
                "delta": '"Łódź"}',
            },
            {"type": "response.output_item.done", "output_index": 0, "item": CALL},
            {"type": "response.completed", "response": response(CALL)},
        ),
        streamed(
            RESPONSES,
            responses_request(),
            {"type": "response.output_text.delta", "output_index": 0, "delta": "Mills —"},
            {"type": "response.output_text.delta", "output_index": 0, "delta": " 🧶."},
            {
                "type": "response.completed",
                "response": response(message("Mills — 🧶.", phase="final_answer")),
            },
        ),
    ),
    record(
        "messages",
        answered(
            MESSAGES,
            messages_request(),
            messages(
                "tool_use",
                {"type": "thinking", "thinking": "Hm.", "signature": "c2lnbmVk"},
                {"type": "text", "text": "I look."},
                USE,
            ),
        ),
        answered(
            MESSAGES, messages_request(), messages("end_turn", {"type": "text", "text": "M."})
        ),
        answered(
            MESSAGES, messages_request(), messages("max_tokens", {"type": "text", "text": "M"})
        ),
    ),
    record("messages stream", streamed(MESSAGES, messages_request(), *GROWING)),
    record(
        "gemini",
        answered(GEMINI, gemini_request(), candidate(LOOKS, finish="STOP")),
        answered(
            GEMINI,
            gemini_request(),
            candidate(
                {"text": "So:", "thought": True},
                {"text": "Mills.", "thoughtSignature": "c2VhbGVk"},
                finish="STOP",
                cachedContentTokenCount=2,
            ),
        ),
        answered(GEMINI, gemini_request(), candidate({"text": "Mi"}, finish="MAX_TOKENS")),
    ),
    record(
        "gemini stream",
        streamed(
            GEMINI_STREAM,
            gemini_request(),
            candidate({"text": "I look"}),
            candidate({"text": " — 🧶."}),
            candidate(LOOKS),
            candidate(finish="STOP"),
            end="\r\n\r\n",
        ),
    ),
]

OUT = record(
    "out",
    answered("https://api.openai.com/v1/embeddings", {}, {}),
    answered("https://api.openai.com/v1/responses/resp_1", {}, {}),
    answered("https://api.anthropic.com/v1/messages/count_tokens", {}, {}),
    answered("https://somewhere.example.com/health", {}, {}),
    answered(CHAT, {}, None),
    answered(GEMINI_STREAM, {}, []),
)
