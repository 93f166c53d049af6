"""The model of the matrix: one that plays worker, planner or judge, by what it is asked.

It knows no strategy. It reads from a request which answer is wanted (its schema), which tools
there are and in which format calls are written, and makes up what fits: a worker makes a call
that acts and answers; whoever must answer with a plan, a verdict or a score gets an instance of
its schema.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from clew.core.codes import FINISH
from clew.testing import Move, ScriptedModel, act, acts, finish
from clew_testing.servers import Delay, Fail, Say, Turn
from tests.matrix import parts
from tests.matrix.troubles import TROUBLES

CACHED: Final = {
    "prompt_tokens": 100,
    "completion_tokens": 10,
    "total_tokens": 110,
    "prompt_tokens_details": {"cached_tokens": 100},
}
"""The usage of a request whose whole prompt was in the cache."""
PARSER: Final = "parser"
"""The model that reads free text."""
FREE: Final = "I would call the tool now, as the task says: send hello."
BELOW: Final = "send"
"""The tool that acts in an agent below another."""
GOAL: Final = "Please send hello."
TASK: Final = re.compile(r"send ([\w-]+)\.")
OF_SCHEMA: Final = re.compile(r"schema:? |answer \(|answer: ")
LEFT_OUT: Final = re.compile(r"Steps 1 to (\d+) are left out here")
PARTS: Final = 2
"""How many steps, parts or calls a plan has, unless the script says otherwise."""


@dataclass(frozen=True)
class Script:
    """How the worker behaves.

    `acts` is the tool that it calls, and `argument` the parameter that takes the text. It makes
    `times` calls, `at_once` in a reply, and says `answers` in turn, the last one again and again.
    `trouble` comes in the place of reply number `troubled` (`troubles.py`).
    `free` are replies that no format can read. A worker that `heeds` leaves what it is told was
    done. `judgement` is the reply to whether a request is harmful.
    """

    acts: str = "send"
    argument: str = "text"
    more: Mapping[str, Any] = field(default_factory=dict[str, Any])
    times: int = 1
    at_once: int = 1
    same: bool = False
    answers: tuple[Any, ...] = ("done",)
    free: bool = False
    calls: int = PARTS - 1
    verdicts: tuple[bool, ...] = (False, True)
    text: str = ""
    heeds: bool = False
    empty: int = 0
    raw: str = ""
    cached: bool = False
    stalls: int = 0
    busy: int = 0
    trouble: str = ""
    troubled: int = 0
    judgement: str = '{"harmful": false, "reason": "it is a greeting"}'


@dataclass(frozen=True)
class Asked:
    """A request, what it was about, and the reply.

    `role` is "work" where a tool that acts may be called, "typed" where a plan, verdict or other
    value is wanted, "text" otherwise.
    """

    body: dict[str, Any]
    role: str
    codec: str
    answer: Any = None

    @property
    def text(self) -> str:
        """All that it says."""
        return "\n".join(map(text_of, self.body["messages"]))

    @property
    def system(self) -> str:
        """What the model is told first."""
        return text_of(self.body["messages"][0])

    @property
    def tools(self) -> list[str]:
        """The names of the tools that are sent as such."""
        return [each["function"]["name"] for each in self.body.get("tools", ())]

    def offers(self, name: str) -> bool:
        """Whether a tool may be called, in whatever format."""
        if self.codec == "native":
            return name in self.tools
        return bool(re.search(rf"^(- |def |async def |await )?{name}\b", self.system, re.MULTILINE))


def text_of(message: Mapping[str, Any]) -> str:
    """The text of a message, in one piece or several."""
    value = message.get("content") or ""
    return value if isinstance(value, str) else "\n".join(each.get("text", "") for each in value)


@dataclass
class Model:
    """The model behind the server: called with the body of each request."""

    script: Script = field(default_factory=Script)
    asked: list[Asked] = field(default_factory=list[Asked])
    judged: int = 0
    answered: int = 0
    emptied: int = 0
    stalled: Counter[tuple[str, str]] = field(default_factory=Counter[tuple[str, str]])
    made: Counter[str] = field(default_factory=Counter[str])
    """How often each request came, in their order."""
    silent: bool = False
    """Whether it stopped in the middle of a reply."""

    def begin(self, script: Script) -> None:
        """Forget what was asked, and behave otherwise."""
        self.script, self.asked = script, []
        self.judged = self.answered = self.emptied = 0
        self.stalled.clear()
        self.made.clear()
        self.silent = False

    def __call__(self, body: dict[str, Any]) -> Turn:
        """The reply."""
        written = json.dumps(body)
        self.made[written] += 1
        reply = self._say(body)
        number = [*self.made].index(written) + 1
        if self.script.trouble and isinstance(reply, Say) and number == self.script.troubled:
            turn = TROUBLES[self.script.trouble](reply, self.made[written])
            self.silent = isinstance(turn, Delay)
            return turn
        return reply

    def _say(self, body: dict[str, Any]) -> Fail | Say | Delay:
        if '"harmful"' in json.dumps(body.get("response_format")):
            self.asked.append(Asked(body, "typed", "native"))
            return Say(self.script.judgement)
        asked = Asked(body, "", codec_of(body))
        schema, wanted = wanted_answer(asked)
        typed = schema.get("type") not in ("string", None) and not self._is_own(schema)
        works = not typed and (asked.offers(self.script.acts) or asked.offers(BELOW))
        role = "typed" if typed else "work" if works else "text"
        move, answer = self._move(asked, role, wanted)
        self.asked.append(Asked(body, role, asked.codec, answer))
        if role == "work" and self.emptied < self.script.empty:
            self.emptied += 1
            return Say("")
        if self.script.free and role == "work" and body["model"] != PARSER:
            return Say("That is all: it is finished." if answer else FREE)
        if self.stalls(body["model"], role):
            return Delay() if self.script.stalls else Fail(503, headers={"retry-after": "30"})
        return written(move, asked.codec, self.script)

    def stalls(self, model: str, role: str) -> bool:
        """Whether the server says nothing this time: so often as the script has it, per role."""
        self.stalled[model, role] += 1
        return self.stalled[model, role] <= self.script.stalls + self.script.busy

    def _is_own(self, schema: Mapping[str, Any]) -> bool:
        """Whether this is the type of answer that the agent itself has."""
        answer = self.script.answers[0]
        has = set(schema.get("properties", ()))
        return isinstance(answer, dict) and has == set(answer)

    def _move(self, asked: Asked, role: str, schema: "Schema") -> tuple[Move, Any]:
        if role == "typed":
            value = self._instance(schema, text_to_send(asked))
            return finish(value), value
        calls_left = asked.body.get("tool_choice") != "none"
        name, arg = self.script.acts, self.script.argument
        if role == "work" and not asked.offers(name):
            name, arg = BELOW, "text"
        done, times = since(asked), self.script.times
        if asked.body["model"] == PARSER:
            done, times = 0, FREE in asked.text
        if role == "work" and calls_left and done < times:
            told = (is_told(asked, name, self._text(asked, n)) for n in range(times))
            first = done + sum(told) if self.script.heeds else done
            texts = [self._text(asked, n) for n in range(first, first + self.script.at_once)]
            more = self.script.more if name == self.script.acts else {}
            calls = [
                act(name, **{arg: text, **more})
                for text in texts
                if not (self.script.heeds and is_told(asked, name, text))
            ]
            if calls:
                return acts(*calls, thought="It is to be done."), None
        answer = self.script.answers[min(self.answered, len(self.script.answers) - 1)]
        self.answered += role != "typed"
        if not isinstance(answer, str) and schema.resolved.get("type") == "string":
            answer = "done"
        return finish(answer, thought="It is done."), answer

    def _text(self, asked: Asked, number: int) -> str:
        """What a call acts on: what the task says, with a number where there are several."""
        if self.script.text:
            return self.script.text
        word = text_to_send(asked)
        if self.script.acts == "helper" and asked.offers("helper"):
            return f"Please send {word}."
        return word if self.script.same or not number else f"{word}-{number + 1}"

    def _instance(self, schema: "Schema", word: str, name: str = "", index: int = 0) -> Any:
        """A value of a schema: what its fields are called says what they are for."""
        resolved = schema.resolved
        if "enum" in resolved:
            return resolved["enum"][0]
        match resolved.get("type"):
            case "object" if "properties" in resolved:
                return {
                    key: self._instance(each, word, key, index) for key, each in schema.fields()
                }
            case "object":
                text = self.script.text or (word if not index else f"{word}-{index + 1}")
                text = f"Please send {text}." if self.script.acts == "helper" else text
                return {self.script.argument: text, **self.script.more}
            case "array":
                calls = self.script.calls if "tool" in schema.item.names else PARTS
                return [self._instance(schema.item, word, name, n) for n in range(calls)]
            case "boolean":
                self.judged += 1
                return self.script.verdicts[min(self.judged, len(self.script.verdicts)) - 1]
            case "number" | "integer":
                self.judged += name == "score"
                high = self.script.verdicts[min(max(self.judged, 1), len(self.script.verdicts)) - 1]
                return 1 if name != "score" or high else 0.4
            case _:
                known = {"tool": self.script.acts, "id": f"E{index + 1}", "name": "first"}
                parts_of = {"steps", "task", "parts"}
                usual = (
                    f"Please send {word}-part-{index + 1}." if name in parts_of else "so it seems"
                )
                return known.get(name, usual)


@dataclass(frozen=True)
class Schema:
    """A JSON Schema, with the definitions that it refers to."""

    schema: Mapping[str, Any]
    names_of: Mapping[str, Any]

    @property
    def resolved(self) -> Mapping[str, Any]:
        """It, with a reference followed."""
        schema = self.schema
        while "$ref" in schema:
            schema = self.names_of[schema["$ref"].rpartition("/")[2]]
        return schema

    @property
    def item(self) -> "Schema":
        """That of the items of a list."""
        return Schema(self.resolved.get("items", {}), self.names_of)

    @property
    def names(self) -> frozenset[str]:
        """The names of the fields."""
        return frozenset(self.resolved.get("properties", ()))

    def fields(self) -> Iterator[tuple[str, "Schema"]]:
        """Its fields."""
        for name, each in self.resolved["properties"].items():
            yield name, Schema(each, self.names_of)


def wanted_answer(asked: Asked) -> tuple[Mapping[str, Any], Schema]:
    """What the answer must be, as a schema."""
    complete: Mapping[str, Any] = {"type": "string"}
    for each in asked.body.get("tools", ()):
        if each["function"]["name"] == FINISH:
            parameters = each["function"]["parameters"]
            complete = {**parameters["properties"]["answer"], "$defs": parameters.get("$defs", {})}
    if asked.codec != "native":
        for match in OF_SCHEMA.finditer(asked.system):
            rest = asked.system[match.end() :]
            if rest.startswith("{"):
                complete = json.JSONDecoder().raw_decode(rest)[0]
    schema = Schema(complete, complete.get("$defs", {}))
    return schema.resolved, schema


def codec_of(body: Mapping[str, Any]) -> str:
    """The format in which calls are to be written."""
    system = text_of(body["messages"][0])
    marks = {
        "json": '"action":',
        "labelled": "Action Input:",
        "paper": "Action 1:",
        "code": "```",
    }
    if body.get("tools"):
        return "native"
    return next((name for name, mark in marks.items() if mark in system), "native")


def text_to_send(asked: Asked) -> str:
    """What the last task says is to be sent."""
    users = [text_of(each) for each in asked.body["messages"] if each["role"] == "user"]
    named: list[str] = [match for text in users for match in TASK.findall(text)]
    return named[-1] if named else "hello"


def is_told(asked: Asked, tool: str, text: str) -> bool:
    """Whether it is told that a call was made."""
    users = [text_of(each) for each in asked.body["messages"] if each["role"] == "user"]
    return any(re.search(rf'{tool}\(.*"{re.escape(text)}"', text_told) for text_told in users)


def since(asked: Asked) -> int:
    """The calls that were made since a person or another run last said what to do."""
    made = 0
    for message in asked.body["messages"]:
        text = text_of(message)
        if message["role"] == "user" and TASK.search(text) and not text.startswith("NOTE:"):
            made = 0
        if left_out := LEFT_OUT.search(text):
            made += int(left_out[1])
        if asked.codec == "native":
            made += len(message.get("tool_calls") or ())
        else:
            made += message["role"] == "assistant"
    return made


def written(move: Move, codec: str, script: Script) -> Say:
    """A move in the format that is asked for."""
    tools = [parts.send, parts.look, parts.pages, parts.broken, parts.lingers, parts.passage]
    tools.append(parts.stumble)
    reply = ScriptedModel((), codec=codec, tools=tools).written(move, 1)
    calls = [(call.name, call.arguments) for call in reply.calls]
    usage = CACHED if script.cached else None
    return Say(f"{script.raw}{reply.text}", calls=calls, usage=usage)
