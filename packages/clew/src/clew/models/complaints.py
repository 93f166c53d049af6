"""What a provider's refusal complains of, by its words, and the repairs that answer it.

The wordings are those that services and servers are known to use; `clew_testing.servers.doors` has
them with their sources. A complaint that no pattern knows, in whatever words, is answered by the
last repair where there are earlier steps that may be what is refused.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Final, Literal

import msgspec

from clew.core.prompts import Prompt
from clew.core.values import Json
from clew.models.tool_schema import LEVELS


def _any(*patterns: str) -> re.Pattern[str]:
    """One pattern of several, whatever the case, over ends of lines."""
    return re.compile("|".join(patterns), re.IGNORECASE | re.DOTALL)


class GoesBack(msgspec.Struct, frozen=True):
    """What a provider demands back with what a model said, and how it says that it is missing.

    What the model sent goes back as it came (`Part.wire`), whatever was repaired in its reply.
    Where a step has none (another model made it, or it came without thinking) `stand_in` is sent:
    under `key` of the message, of its first call, or as a block before the others.
    """

    where: Literal["message", "call", "block"]
    key: str
    stand_in: Json
    complaint: re.Pattern[str]


GOES_BACK: Final[Mapping[str, GoesBack]] = {
    # DeepSeek's and Kimi's thinking, and whoever serves their models; an empty text is refused too.
    "reasoning": GoesBack(
        "message",
        "reasoning_content",
        " ",
        _any(
            r"reasoning_content.{0,80}(?:passed back|missing|required|cannot be (?:empty|null))",
            r"reasoning_content.{0,80}must be (?:provided|present|set|included)",
            r"missing.{0,20}reasoning_content",
        ),
    ),
    # The same over their doors for Anthropic's format, where thinking need not be signed.
    "thought": GoesBack(
        "block",
        "thinking",
        {"type": "thinking", "thinking": " ", "signature": ""},
        _any(r"content\[\]\.thinking.{0,60}passed back"),
    ),
    # Gemini from 3 on, over its OpenAI door. The stand-in is that of Google's documentation.
    "signature": GoesBack(
        "call",
        "extra_content",
        {"google": {"thought_signature": "skip_thought_signature_validator"}},
        _any(r"missing (?:a )?.?thought_?signature"),
    ),
}
"""What must go back, by the name of its repair. All adapters read it."""

_IN_ORDER: Final = ("patterns", "schemas", "open")

_CALL_ID: Final = r"(?:tool[_ ]?call|tool_?use|function[_ ]?call|\bcall)(?:s\[\d+\])?[._ ]?id\b"

COMPLAINTS: Final[tuple[tuple[tuple[str, ...], re.Pattern[str]], ...]] = (
    (
        ("unique", "ids"),
        _any(
            r"duplicate.{0,40}(?:\bid\b|call|item|result|output|tool_use)",
            r"\bids? must be unique",
            r"(?:call|tool_use)\S*.{0,30}(?:not unique|more than once)",
            r"(?:call|tool_use)\S*.{0,30}already (?:used|exists|seen)",
        ),
    ),
    (
        ("apart",),
        _any(
            r"multimodal function responses?",
            r"(?:function_call_output|tool_result|tool (?:message|result)s?).{0,80}"
            r"(?:(?:valid|be a|expected a) (?:string|text)|only (?:support )?text)",
        ),
    ),
    (
        ("single",),
        _any(
            r"single tool[- ]?calls? at once",
            r"(?:parallel|multiple|more than one) tool[- ]?calls?",
        ),
    ),
    (
        ("ids",),
        _any(
            _CALL_ID + r".{0,80}(?:must|invalid|pattern|match|length|long|short|expected)",
            r"invalid.{0,40}(?:call_id|tool_call_id|tool_calls\[\d+\]\.id|toolUseId)",
        ),
    ),
    (
        ("system",),
        _any(
            r"(?:system|developer)[ '\"]*(?:role|message|prompt|instructions?)?.{0,30}"
            r"(?:not (?:supported|allowed|enabled|permitted)|unsupported)",
            r"(?:unsupported|invalid|unknown) role.{0,20}(?:system|developer)",
        ),
    ),
    (
        ("roles",),
        _any(
            r"alternat|unexpected role|role ['\"]?\w+['\"]? after|consecutive|no user query",
            r"(?:message|role)_order|order of (?:the )?(?:messages|roles)",
            r"expected last role|last (?:role|message|turn)",
            r"(?:system|first) message (?:must|should)",
            r"(?:must|should) (?:be at the beginning|come first)",
            r"(?:start|begin|end)s? with (?:a |the |an )?['\"]?(?:user|assistant|tool)",
        ),
    ),
    (
        _IN_ORDER,
        _any(
            r"schema|is not a .?regex|\bregex|regular expression|lookaround|lookahead",
            r"pattern.{0,40}(?:must|invalid|not supported|unsupported|start)",
            r"failed to parse grammar|invalid_function_parameters",
            r"(?:parameters|input_schema).{0,80}(?:invalid|not supported)",
            r"unknown name.{0,40}(?:parameters|function_declarations)",
            r"\b(?:additional|pattern|unevaluated)(?:Properties|Items)\b|\bpropertyNames\b|\$(?:ref|defs)\b",
            r"\b(?:any|one|all)_?Of\b|\b(?:min|max)(?:Length|Items|Properties)\b|\bmultipleOf\b",
            r"\bexclusiveM(?:in|ax)imum\b|\b(?:uniqu|prefix)e?Items\b",
        ),
    ),
)
"""What a refusal complains of, the more special first, and the repairs in their order."""

_HISTORY: Final = _any(
    r"\bmessages?\b|\broles?\b|\bconversation|\bturns?\b|\bassistant\b|\bhistory\b",
    r"tool[_ ]?(?:calls?|use|results?|responses?)|function[_ .]?(?:call|response)",
    r"reasoning|thinking|thought|signature|jinja|chat[_ ]template",
    r"\binput\[\d+\]|\bcontents?\[|\bcontents?\b.{0,20}\bparts\b",
)
"""Words of a complaint about a conversation."""

_TEMPLATE: Final = _any(r"jinja|raise_exception|template|\bat row \d+, column \d+|\{%|\{\{")
"""A template that refused a conversation: llama.cpp gives it a status of 500."""

_UNREADABLE: Final = _any(
    r"failed_generation|tool_use_failed|json_validate_failed|tool call validation failed",
    r"failed to parse input at pos",
)
"""What the model wrote, and the provider could not read: Groq gives it a status of 400, llama.cpp
one of 500."""

_OTHER: Final = _any(
    r"api.?key|credential|unauthori[sz]ed|permission|access denied",
    r"billing|\bcredits?\b|quota|rate.?limit|balance|arrear|余额|欠费",
    r"content.?(?:policy|filter|management)|moderation|\bsafety\b|flagged|\bpolic(?:y|ies)\b",
    r"inspection|inappropriate|\bsensitive (?:content|words?|information)|harmful|敏感|违规",
    r"\bmax_\w*tokens|temperature|top_[pk]\b",
    r"model\b.{0,60}(?:not (?:found|exist|available)|does ?n.t exist|unknown|decommissioned)",
    r"(?:unknown|invalid|no such) model|model\b.{0,60}deprecated|模型不存在",
)
"""Complaints that no repair of a conversation answers."""

_NO_TOOLS: Final = _any(
    r"(?:does ?n.t|does not|do not|cannot|not) (?:currently )?support(?:ed)?\b[^\n.:;{}]{0,30}"
    r"(?:\btools?\b|function[ -]?call|tool[ -]?(?:use|call))",
    r"(?:\btools?\b|\btool[ _-]?(?:use|call(?:s|ing)?)|function[ -]?calling)['\"`]?"
    r"(?: \w+){0,3} (?:(?:is|are) )?(?:not (?:supported|enabled|available|allowed)|unsupported)",
    r"support tool use|enable-auto-tool-choice|unrecognized.{0,30}argument.{0,20}\btools\b",
)
"""A server that takes no tools at all."""

REFUSED: Final = frozenset({400, 404, 422})
"""Statuses of a request that is refused for what is in it."""


def about_the_prompt(status: int, message: str) -> bool:
    """Whether a refusal is for what is in the request, as far as its status tells."""
    return status in REFUSED or (status == 500 and _TEMPLATE.search(message) is not None)


def takes_no_tools(message: str) -> bool:
    """Whether a complaint is about tools at all, and not about several calls together."""
    several = next(pattern for repairs, pattern in COMPLAINTS if "single" in repairs)
    return _NO_TOOLS.search(message) is not None and several.search(message) is None


def demanded(message: str, left: frozenset[str]) -> str:
    """What a complaint demands back that some steps lack, of the repairs that are `left`; or ""."""
    known = ((name, back) for name, back in GOES_BACK.items() if name in left)
    return next((name for name, back in known if back.complaint.search(message)), "")


def answer(message: str, prompt: Prompt, left: frozenset[str]) -> str:
    """The repair that a complaint asks for, of those that are `left`; or ""."""
    if _OTHER.search(message):
        return ""
    for repairs, pattern in COMPLAINTS:
        known_repair = next((repair for repair in repairs if repair in left), "")
        if (
            known_repair
            and pattern.search(message)
            and (prompt.tools or known_repair not in LEVELS)
        ):
            return known_repair
    return ""


def unreadable(message: str) -> bool:
    """Whether it is the model's reply that is refused: another may be better."""
    return _UNREADABLE.search(message) is not None


def last_resort(
    status: int, message: str, prompt: Prompt, left: frozenset[str], options: Iterable[str]
) -> str:
    """`text` where earlier steps are, or may be, what is refused; `options` are the user's own.

    No words are asked for: they are in any language. A status of 404 is mostly about an address.
    """
    if "text" not in left or _OTHER.search(message):
        return ""
    if not any(part.role in {"assistant", "tool"} for part in prompt):
        return ""
    named = _any(*(rf"(?<!\w){re.escape(option)}(?!\w)" for option in options or ("\0",)))
    rest, count = named.subn("", message)
    return "text" if _HISTORY.search(rest) or not (status == 404 or count) else ""
