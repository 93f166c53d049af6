"""The model `offline`: fixed rules behind the ordinary `Model` protocol, for English questions.

It sees nothing but the prompt, keeps nothing between calls, and says that it is no language model.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec

from clew.events import FINISH, Json, RawCall, Reply, Usage, encode
from clew.models.offline.english import cleaned, names
from clew.models.offline.moves import Ask, Found, solve
from clew.protocols import OnText, Prompt

MOST_CHARACTERS: Final = 1_000
"""Longer questions are not read."""
SIGNED: Final = "(answered by clew's offline rules, not by a language model)"
NEEDS: Final = (
    "I need the tool docs to look things up in your documents (name a folder with --docs), or the "
    "tool calc for arithmetic, both in the native format: without them I cannot answer this."
)
_OPENING: Final = "These are clew's offline rules, not a language model. "
_LOOP: Final = ("ERROR: ", "NOTE: ", "The limit on ")
"""How a user's message begins that the loop wrote, not a person."""
_PRONOUN = re.compile(r"\b(?:(his|its|their)|he|she|it|they|him|her|them)\b", re.IGNORECASE)


@dataclass(frozen=True)
class OfflineModel:
    """Looks things up and calculates by fixed rules; replies cost nothing."""

    name: str = "offline"
    params: Mapping[str, Json] = field(default_factory=dict[str, Json])
    priced: bool = True

    async def complete(self, prompt: Prompt, on_text: OnText | None = None) -> Reply:
        """The next move; with `on_text`, its text in one piece."""
        move = _move(prompt)
        text, tool, args = move if isinstance(move, Ask) else _answer(move, prompt)
        if tool and not any(part.role == "assistant" for part in prompt.parts):
            text = _OPENING + text
        if on_text is not None:
            on_text(text)
        made = sum(len(part.calls) for part in prompt.parts)
        call = RawCall(tool, encode(args).decode(), f"offline_{made + 1}")
        calls = (call,) if tool else ()
        return Reply(text, calls, "calls" if calls else "stop", Usage(cost=0.0), self.name)


def _move(prompt: Prompt) -> Ask | Found:
    """What the rules want, or what they found, for the last question a person asked."""
    asked = [part.text for part in prompt.head if part.role == "user"][-1:]
    asked += [p.text for p in prompt.parts if p.role == "user" and not p.text.startswith(_LOOP)]
    about = ""
    move: Ask | Found = Found(None, (NEEDS,))
    for text in asked:
        question = _referred(cleaned(text), about)
        move = _driven(question, prompt)
        value = move.value if isinstance(move, Found) else None
        about = value if value and names(value) == [value] else next(iter(names(question)), about)
    return move


def _referred(question: str, about: str) -> str:
    """A later question with what its pronouns mean: what the one before it came to."""
    named, pronoun = names(question), _PRONOUN.search(question)
    if not about or not pronoun or (named and question.index(named[0]) < pronoun.start()):
        return question
    return _PRONOUN.sub(lambda found: about + ("'s" if found[1] else ""), question)


def _driven(question: str, prompt: Prompt) -> Ask | Found:
    """Run the rules over what the prompt holds, to a call that was not made or to their end."""
    if len(question) > MOST_CHARACTERS:
        return Found(
            None, (f"I read questions of up to {MOST_CHARACTERS} characters: say it in less.",)
        )
    tools, seen, rules = {tool.name for tool in prompt.tools}, _seen(prompt), solve(question)
    try:
        ask = next(rules)
        while True:
            key = encode([ask.tool, ask.args])
            if ask.tool in ("docs", "calc") and ask.tool not in tools:
                return Found(None, (NEEDS,))
            if key not in seen and ask.tool in tools and prompt.calls != "none":
                return ask
            ask = rules.send(seen.get(key, {}))
    except StopIteration as end:
        found: Found = end.value
        return found


def _seen(prompt: Prompt) -> dict[bytes, dict[str, Json]]:
    """What every call in the prompt gave; nothing where it failed."""
    made: dict[str, bytes] = {}
    seen: dict[bytes, dict[str, Json]] = {}
    for part in prompt.parts:
        for call in part.calls:
            made[call.id] = encode([call.name, _object(call.arguments or "")])
        if part.role == "tool" and part.call_id in made:
            seen[made[part.call_id]] = _object(part.text)
    return seen


def _object(text: str) -> dict[str, Json]:
    try:  # hints stand on lines of their own below
        return msgspec.json.decode(text.partition("\n")[0], type=dict[str, Any])
    except (msgspec.DecodeError, RecursionError):
        return {}


def _answer(found: Found, prompt: Prompt) -> tuple[str, str, dict[str, Json]]:
    """An answer as text, or as thought and call of finish, of the type that finish wants."""
    lead = f"{found.value} – " if found.value and len(found.claims) > 1 else ""
    answer: Json = f"{lead}{' '.join(found.claims)}\n{SIGNED}"
    finish = next((tool for tool in prompt.tools if tool.name == FINISH), None)
    if finish is None:
        return answer, "", {}
    wanted = finish.parameters.get("properties", {}).get("answer", {}).get("type")
    digits = (found.value or "").replace(",", "")
    if wanted in ("integer", "number") and re.fullmatch(r"-?\d+(?:\.\d+)?", digits):
        answer = int(digits) if "." not in digits else float(digits)
    if prompt.calls == "none" or wanted not in ("integer", "number", "string"):
        return str(answer), "", {}
    return "I have what can be found.", FINISH, {"answer": answer}
