"""What a server asks of the agent's own model, within what its settings and the run allow."""

from typing import Final

import mcp_types as types

from clew import ModelError
from clew.core.prompts import Role
from clew.interfaces import Part, Prompt
from clew_mcp.pending_requests import PendingRequest

REFUSED: Final = types.INVALID_REQUEST
_CHARS: Final = 4
"""Characters that about one token has."""


async def sample(
    params: types.CreateMessageRequestParams, pending: PendingRequest | None, allowed: int
) -> types.CreateMessageResult | types.ErrorData:
    """Ask the model of the run that makes the call; `allowed` are tokens for the whole call."""
    if pending is None or pending.model is None:
        return _refused("there is no model that this question could be put to")
    prompt = _prompt(params)
    if prompt is None:
        return _refused("only texts can be put to this model, and no tools")
    left = min(allowed - pending.usage.tokens, pending.context.left().tokens)
    wanted = sum(len(part.text) for part in prompt) // _CHARS + params.max_tokens
    if wanted > left:
        return _refused(f"about {wanted} tokens are asked for, and {max(left, 0)} are left")
    try:
        reply = await pending.model.complete(prompt)
    except ModelError as error:
        return types.ErrorData(code=types.INTERNAL_ERROR, message=str(error))
    pending.usage += reply.usage
    return types.CreateMessageResult(
        role="assistant",
        content=types.TextContent(type="text", text=reply.text),
        model=reply.model or pending.model.info.name,
        stop_reason="maxTokens" if reply.finish == "length" else "endTurn",
    )


def _prompt(params: types.CreateMessageRequestParams) -> Prompt | None:
    """The server's messages as a prompt; None where they are more than text."""
    if params.tools:
        return None
    parts: list[Part] = []
    for message in params.messages:
        texts = [
            block.text for block in message.content_as_list if isinstance(block, types.TextContent)
        ]
        if len(texts) < len(message.content_as_list):
            return None
        role: Role = "assistant" if message.role == "assistant" else "user"
        parts.append(Part(role, "\n".join(texts)))
    head = (Part("system", params.system_prompt),) if params.system_prompt else ()
    return Prompt(head, parts, calls="none", stop=tuple(params.stop_sequences or ()))


def _refused(why: str) -> types.ErrorData:
    return types.ErrorData(code=REFUSED, message=f"sampling is refused: {why}")
