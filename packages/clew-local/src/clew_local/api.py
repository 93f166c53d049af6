"""Requests to llama.cpp's server, and its replies: Chat Completions, held to a grammar or free.

Tools go to the chat template only, and calls come as the text that it teaches. Told of tools or of
a schema, the server would read the reply too, with a grammar of its own, and refuse with an error
500 what does not fit, such as a reply that was cut. What a reply says is for the codec to find out.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import msgspec

from clew import ModelSettings
from clew.interfaces import Json, OnText, Prompt, RawCall, Reply, encode
from clew.models.endings import LOCAL
from clew.models.http.failures import ProviderError
from clew.models.http.reply_builder import ReplyBuilder
from clew.models.openai.chat import ChatApi
from clew.models.openai.chat_prompt import declare

_CALL: Final = re.compile(r"<tool_call>\s*(\{.*?\})\s*</tool_call>", re.DOTALL)
_TAG: Final = "<tool_call>"


class _LocalCall(msgspec.Struct):
    """A call as the model writes it."""

    name: str
    arguments: msgspec.Raw


@dataclass
class LocalApi:
    """Chat Completions of a server of ours: it refuses nothing that it is sent."""

    chat: ChatApi

    provider: str = "local"
    hint: str = "that of the model in this process"
    takes: frozenset[str] = frozenset()
    in_results: frozenset[str] = frozenset()
    understood: frozenset[str] = frozenset()
    repairs: frozenset[str] = frozenset({"roles", "system", "text"})  # for templates that raise

    @property
    def model(self) -> str:
        return self.chat.model

    @property
    def settings(self) -> ModelSettings:
        return self.chat.settings

    def with_settings(self, settings: ModelSettings) -> "LocalApi":
        return LocalApi(self.chat.with_settings(settings))

    @property
    def params(self) -> Mapping[str, Json]:
        return self.chat.params

    def path(self, *, stream: bool) -> str:
        return self.chat.path(stream=stream)

    def degrade(self, trouble: ProviderError, without: frozenset[str]) -> str:
        return ""

    def draft(self, prompt: Prompt, without: frozenset[str]) -> ReplyBuilder:
        draft = self.chat.draft(prompt, without)
        draft.endings = LOCAL
        return draft

    def body(self, prompt: Prompt, *, stream: bool, without: frozenset[str]) -> bytes:
        plain = msgspec.structs.replace(prompt, tools=(), reply_schema=None)
        body = self.chat.body(plain, stream=stream, without=without | {"images"})
        more: dict[str, Json] = {} if "seed" in self.params else {"seed": prompt.seed}
        if prompt.grammar:
            more["grammar"] = prompt.grammar
        if prompt.tools:
            tools = [declare(tool, tool.name) for tool in prompt.tools]
            more["chat_template_kwargs"] = {"tools": tools}
        return body[:-1] + b"," + encode(more)[1:] if more else body


def with_calls(reply: Reply) -> Reply:
    """The reply with the calls that stand in its text, in tags; what cannot be read stays text."""
    try:
        calls = [msgspec.json.decode(call, type=_LocalCall) for call in _CALL.findall(reply.text)]
    except (msgspec.DecodeError, RecursionError):
        return reply
    if calls and reply.finish == "stop":
        text = reply.text.partition(_TAG)[0].strip()
        raw = tuple(
            RawCall(name=call.name, arguments=bytes(call.arguments).decode()) for call in calls
        )
        return msgspec.structs.replace(reply, text=text, calls=raw, finish="calls")
    return reply


def ahead_of_calls(show: OnText) -> OnText:
    """Shows what comes ahead of the first tag, which may come in pieces."""
    tagged = False

    def pass_on(text: str) -> bool:
        nonlocal tagged
        tagged = tagged or "<" in text
        return False if tagged else show(text)

    return pass_on
