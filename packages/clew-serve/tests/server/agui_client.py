"""A front end that speaks AG-UI, and is strict: each event has to be valid, and in its order."""

import json
from collections.abc import Sequence
from typing import Any, Final

from ag_ui.core import Event
from pydantic import TypeAdapter

from tests.server.site import Site

_EVENTS: Final[TypeAdapter[Any]] = TypeAdapter(Event)
WEATHER: Final = {
    "name": "weather",
    "description": "The weather in a city.",
    "parameters": {
        "type": "object",
        "properties": {"city": {"type": "string"}},
        "required": ["city"],
    },
}


class FrontEnd:
    """One thread, as a browser keeps it: its messages, and what waits."""

    def __init__(self, here: Site, thread: str = "t1", agent: str = "", tools: Any = None) -> None:
        self.here, self.thread, self.agent, self.tools = here, thread, agent, tools
        self.messages: list[dict[str, Any]] = []
        self.runs = 0
        self.events: list[Any] = []

    def say(self, content: Any) -> None:
        self.messages.append({"id": f"m{len(self.messages)}", "role": "user", "content": content})

    def result(self, call: str, content: str, **more: Any) -> None:
        message = {"id": f"m{len(self.messages)}", "role": "tool", "toolCallId": call}
        self.messages.append({**message, "content": content, **more})

    def body(self, **more: Any) -> dict[str, Any]:
        self.runs += 1
        asked = {"threadId": self.thread, "runId": f"r{self.runs}", "messages": self.messages}
        extra = {"state": {}, "tools": self.tools, "context": [], "forwardedProps": {}}
        return {**asked, **extra, **more}

    async def run(self, **more: Any) -> Any:
        """Run the agent, and return the last event; the messages grow by what it told."""
        asked = self.body(**more)
        url = f"{self.here.url}/agui?agent={self.agent}"
        async with self.here.http.stream(
            "POST", url, json=asked, headers={**self.here.headers, "accept": "text/event-stream"}
        ) as response:
            if response.status_code != 200:
                await response.aread()
                return response
            assert response.headers["content-type"].startswith("text/event-stream")
            lines = [line async for line in response.aiter_lines()]
        told = [json.loads(each[6:]) for each in lines if each.startswith("data: ")]
        self.events = [_EVENTS.validate_python(each) for each in told]
        check_order(self.events)
        assert [it for it in told if set(it) - set(_aliases(it))] == []  # nothing that it has not
        self._take(self.events)
        return self.events[-1]

    def _take(self, events: Sequence[Any]) -> None:
        for event in events:
            if event.type == "TEXT_MESSAGE_START":
                new = {"id": event.message_id, "role": "assistant", "content": ""}
                self.messages.append(new)
            elif event.type == "TEXT_MESSAGE_CONTENT":
                self.messages[-1]["content"] += event.delta
            elif event.type == "TOOL_CALL_START":
                function = {"name": event.tool_call_name, "arguments": ""}
                call = {"id": event.tool_call_id, "type": "function", "function": function}
                self.messages.append(
                    {"id": f"{event.tool_call_id}-m", "role": "assistant", "toolCalls": [call]}
                )
            elif event.type == "TOOL_CALL_ARGS":
                self.messages[-1]["toolCalls"][0]["function"]["arguments"] += event.delta
            elif event.type == "TOOL_CALL_RESULT":
                self.result(event.tool_call_id, event.content)

    def kinds(self) -> list[str]:
        return [str(event.type.value) for event in self.events]

    def text(self) -> str:
        return "".join(e.delta for e in self.events if e.type == "TEXT_MESSAGE_CONTENT")


def _aliases(told: dict[str, Any]) -> set[str]:
    """The fields that the event's class declares, by their names on the wire."""
    kind = type(_EVENTS.validate_python(told))
    return {str(field.alias) for field in kind.model_fields.values()} | {"type"}


def check_order(events: Sequence[Any]) -> None:
    """The protocol's rules of sequence, as a small machine."""
    assert events[0].type == "RUN_STARTED"
    assert events[-1].type in {"RUN_FINISHED", "RUN_ERROR"}
    message, call, step, seen = "", "", "", set[str]()
    for event in events[1:-1]:
        match event.type.value:
            case "TEXT_MESSAGE_START":
                assert not message
                assert event.message_id not in seen
                message = event.message_id
                seen.add(message)
            case "TEXT_MESSAGE_CONTENT":
                assert message == event.message_id
                assert event.delta
            case "TEXT_MESSAGE_END":
                assert message == event.message_id
                message = ""
            case "TOOL_CALL_START":
                assert (call, message) == ("", "")
                assert event.tool_call_id not in seen
                call = event.tool_call_id
                seen.add(call)
            case "TOOL_CALL_ARGS":
                assert call == event.tool_call_id
            case "TOOL_CALL_END":
                assert call == event.tool_call_id
                call = ""
            case "TOOL_CALL_RESULT":
                assert (call, message) == ("", "")
            case "STEP_STARTED":
                assert (step, message, call) == ("", "", "")
                assert event.step_name not in seen
                step = event.step_name
                seen.add(step)
            case "STEP_FINISHED":
                assert step == event.step_name
                assert (call, message) == ("", "")
                step = ""
            case other:
                raise AssertionError(other)
    assert (step, message, call) == ("", "", "")
