"""A turn as OpenAI's response."""

from dataclasses import dataclass, field
from typing import Any

from clew.interfaces import encode
from clew.toolbox import ASK_PERSON
from clew_serve.openai_front.response_id import response_id
from clew_serve.openai_front.usage import response_usage
from clew_serve.service import Service
from clew_serve.turns.ending import Ending
from clew_serve.turns.turn import Turn

Item = dict[str, Any]


@dataclass
class ResponseObject:
    """Makes the object of a turn, as it is now. `asked` is what of the request it repeats."""

    service: Service
    turn: Turn
    model: str
    asked: dict[str, Any] = field(default_factory=dict[str, Any])
    id: str = ""

    def __post_init__(self) -> None:
        self.id = self.id or response_id(self.turn)

    def of(self, status: str, output: list[Item], **more: Any) -> dict[str, Any]:
        """The object with this status and output."""
        entries = self.turn.record.entries
        return {
            "id": self.id,
            "object": "response",
            "created_at": entries[0].at // 1000 if len(entries) else 0,
            "status": status,
            "model": self.model,
            "output": output,
            "parallel_tool_calls": True,
            "tool_choice": "auto",
            "tools": [],
            "error": None,
            "incomplete_details": None,
            "usage": None,
            **self.asked,
            **more,
        }

    def ended(self, ending: Ending) -> dict[str, Any]:
        """The object of a turn that has ended."""
        output = [*self.messages(ending), *self.calls(ending), *self.approvals(ending)]
        more: dict[str, Any] = {"usage": response_usage(self.turn), "clew": ending.told}
        status = "completed"
        if ending.status == "bound":
            status = "incomplete"
            more["incomplete_details"] = {"reason": "max_output_tokens"}
        elif ending.status == "interrupted":
            status = "cancelled"
        return self.of(status, output, **more)

    def messages(self, ending: Ending) -> list[Item]:
        """The message of the answer, if there is one, or of what is waited for."""
        if ending.refusal:
            return [self.message([{"type": "refusal", "refusal": ending.refusal}])]
        if not ending.text or (ending.held and not self.others(ending)):
            return []
        return [self.message([text_part(ending.text)])]

    def message(self, content: list[Item], number: int = 0, status: str = "completed") -> Item:
        """A message of the agent."""
        return {
            "id": f"msg_{self.id.removeprefix('resp_')}_{number}", "type": "message",
            "role": "assistant", "status": status, "content": content,
        }  # fmt: skip

    @staticmethod
    def calls(ending: Ending) -> list[Item]:
        """Calls of the client's own tools."""
        return [
            {
                "id": f"fc_{each.id}", "type": "function_call", "call_id": each.id,
                "name": each.tool, "arguments": encode(each.args).decode(), "status": "completed",
            }
            for each in ending.calls
        ]  # fmt: skip

    @staticmethod
    def approvals(ending: Ending) -> list[Item]:
        """Held calls, in the form that the API has for those of MCP servers."""
        return [
            {
                "id": each.id, "type": "mcp_approval_request", "name": each.tool,
                "server_label": "clew", "arguments": encode(each.args).decode(),
            }
            for each in ending.held
            if each.wants == "ruling" and each.asks is None and each.tool != ASK_PERSON
        ]  # fmt: skip

    def others(self, ending: Ending) -> bool:
        """Whether something waits that an approval does not decide."""
        return len(self.approvals(ending)) < len(ending.held)


def text_part(text: str) -> Item:
    """A text of a message."""
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}
