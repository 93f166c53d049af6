"""The text formats of the recordings: clew's codec for each, and what was recorded of a turn.

Paper, FireAct, Reflexion and WebShop are `paper`; MedAgent's bare protocol and the blocks of the
software-engineering runs are dialects of `Commands`, declared here as a user would.
"""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from clew import Agent
from clew.codecs import by_name
from clew.core.codec import Codec, PromptSpec
from clew.core.codes import Effect
from clew.core.tools import Parameters, Tool
from clew.testing.models import ScriptedModel
from clew_code.codec.commands import Command, Commands
from recordings.forms import Record

Turn: TypeAlias = dict[str, Any]
TEXT: Final[Parameters] = {"type": "string"}


@dataclass(frozen=True)
class ComparableTurn:
    """A thought and an action, as two readers can be compared by; no action where there is none."""

    thought: str
    name: str = ""
    args: tuple[Any, ...] = ()

    @property
    def called(self) -> tuple[str, tuple[Any, ...]]:
        """The action alone, as different readers agree on it: its name's case is nobody's."""
        args = (bare(arg) if isinstance(arg, str) else arg for arg in self.args)
        return self.name.lower(), tuple(args)

    def __str__(self) -> str:
        """The action in a line, shortened."""
        if not self.name:
            return "no action"
        line = " ".join(" ".join(map(str, self.args)).split())
        return f"{self.name}[{line if len(line) <= 80 else f'{line[:79]}…'}]"


@dataclass(frozen=True)
class Format:
    """One format: where it was recorded, how its turns are read, by clew and by their words alone.

    `reply` is what came from the model, `recorded` what the original made of it. `plain` is the
    first call that the reply plainly holds, found without any codec: by the name of a tool and a
    bracket (or an address) at the start of a line or behind a label, fences left out. Where its
    words can be taken in more than one way, it gives each of them; none where there is no call.
    `elsewhere` says why a record's calls do not stand in its replies, if so. `again` finds a
    further call within what the original took for one argument.
    """

    name: str
    kind: str
    codec: Codec
    tools: tuple[Tool, ...]
    reply: Callable[[Turn], str]
    recorded: Callable[[Turn], ComparableTurn]
    plain: Callable[[str], Sequence[ComparableTurn]]
    again: re.Pattern[str] | None = None
    of: Callable[[Record], bool] = lambda _: True
    elsewhere: Callable[[Record], str] = lambda _: ""

    @property
    def prompt_spec(self) -> PromptSpec:
        """What the codec may know."""
        return Agent(model=ScriptedModel([]), tools=self.tools, codec=self.codec).engine.prompt_spec


async def _nothing(args: dict[str, Any], key: str) -> str:
    return f"{key} {args}"


def _tool(name: str, effect: Effect, **parameters: Parameters) -> Tool:
    schema = {"type": "object", "properties": parameters, "required": list(parameters)}
    return Tool(name, f"Does {name}.", schema, _nothing, effect=effect)


_LABEL: Final = re.compile(r"\s*(?:thought|action)[ \d]*:", re.IGNORECASE)


def unlabelled(thought: str | None) -> str:
    """A thought without its label."""
    return _LABEL.sub("", thought or "", count=1).strip()


def _first(turn: Turn) -> tuple[str, str]:
    for action in turn["actions"]:
        return action["name"].strip().lower(), (action["arg"] or "").strip()
    return "", ""


def _comparable_turn(turn: Turn) -> ComparableTurn:
    name, arg = _first(turn)
    return ComparableTurn(unlabelled(turn["thought"]), name, (arg,) if name else ())


# ---------------------------------------------------------------- brackets: the paper's format

_CALL: Final = re.compile(
    r"^(?P<label>\s*action[ \d]*:)?\s*(?P<name>search|lookup|finish|click|think)\s*\["
    r"|(?P<amid>\baction[ \d]*:)\s*(?P<other>[a-z_]\w*)\s*\[",
    re.IGNORECASE | re.MULTILINE,
)
"""A known name at the start of a line, or any name behind a label, wherever that stands."""


def bare(arg: str) -> str:
    """An argument without blanks and brackets around it: readers differ in what they strip."""
    return arg.strip(" \t\r\n[]")


def _bracketed(text: str) -> list[ComparableTurn]:
    """The first call, with each argument that its brackets can be taken to hold."""
    matches = _CALL.search(text)
    if matches is None:
        return []
    name = (matches["name"] or matches["other"]).lower()
    line, depth, ends = text[matches.end() :].partition("\n")[0], 1, list[int]()
    for index, sign in enumerate(line):
        depth += (sign == "[") - (sign == "]")
        if sign == "]" and (not ends or depth == 0):
            ends.append(index)
    args = {bare(line[:end]) for end in ends or [len(line)]}
    if not ends:  # never closed: nobody knows where it ends, or whether it was meant
        args.add(bare(text[matches.end() :]))
    ways = [ComparableTurn("", name, (arg,)) for arg in sorted(args)]
    return ways if ends and not matches["amid"] else [*ways, ComparableTurn("")]


_AGAIN: Final = re.compile(
    r"\]\W{0,3}(?:and )?\s*(?:search|lookup|finish|click|think)\[", re.IGNORECASE
)

_SHOP: Final = (
    _tool("search", "read", query=TEXT),
    _tool("click", "unsafe", button=TEXT),
    _tool("think", "pure", text=TEXT),
)
_WIKI: Final = (_tool("search", "read", entity=TEXT), _tool("lookup", "read", keyword=TEXT))


def _shop(turn: Turn) -> ComparableTurn:
    """A thought is a call of its own there: `think[...]`."""
    if turn["thought"] is not None and not turn["actions"]:
        return ComparableTurn("", "think", (turn["thought"].strip(),))
    return _comparable_turn(turn)


def _begun(turn: Turn) -> str:
    """The reply behind the word that its prompt ended in."""
    return f"Action: {turn['raw']}"


def _joined(turn: Turn) -> str:
    """The replies of two calls as one, each behind the label that its prompt ended in."""
    step = turn["step"]
    return f"Thought {step}:{turn['raw']}\nAction {step}:{turn['raw_action']}"


def _raw(turn: Turn) -> str:
    return str(turn["raw"])


# ---------------------------------------------------------------- bare commands

_MEDICAL: Final = Commands(
    (
        Command("get", "GET {url}", begins=("http",)),
        Command("post", "POST {url}\n{body}", begins=("http",)),
        Command("finish", "FINISH([{answer}])"),
    ),
    dialect="fhir",
)
_COMMAND: Final = re.compile(
    r"^(?:(GET|POST) (http.*)|FINISH *([(\[].*))$",
    re.MULTILINE,
)


def _medical(name: str, arg: str) -> tuple[str, tuple[Any, ...]]:
    """A call in one shape: the answers without their brackets, a payload as the JSON it is."""
    if name == "finish":
        while arg[:1] + arg[-1:] in {"()", "[]"}:
            arg = arg[1:-1].strip()
        return name, (arg,)
    if name == "post":
        url, _, body = arg.partition("\n")
        return name, (url.strip(), json.JSONDecoder().raw_decode(body.strip())[0])
    return name, (arg.strip(),)


def _medical_turn(turn: Turn) -> ComparableTurn:
    name, arg = _first(turn)
    return (
        ComparableTurn(unlabelled(turn["thought"]), *_medical(name, arg))
        if name
        else ComparableTurn("")
    )


def _medical_plain(text: str) -> list[ComparableTurn]:
    matches = _COMMAND.search(text)
    if matches is None:
        return []
    if matches[3]:
        return [ComparableTurn("", *_medical("finish", matches[3].strip()))]
    body = text[matches.end() :] if matches[1] == "POST" else ""
    return [ComparableTurn("", *_medical(matches[1].lower(), matches[2] + body))]


def _block(name: str, form: str) -> Commands:
    """Discussion, and the block that ends the reply is the command."""
    return Commands((Command("command", form),), dialect=name, counts="last")


_SHELL: Final = (_tool("command", "unsafe", command=TEXT),)


def _quoted(opening: str, closing: str) -> Callable[[str], list[ComparableTurn]]:
    def plain(text: str) -> list[ComparableTurn]:
        block = text.rstrip().rpartition(f"\n{opening}\n")[2]
        body, ended, _ = block.partition(f"\n{closing}")
        return [ComparableTurn("", "command", (body.strip(),))] if ended else []

    return plain


def _native(record: Record) -> str:
    called = any(turn.get("tool_calls") for turn in record["turns"])
    return "its calls came in the provider's own fields" if called else ""


FORMATS: Final = (
    Format(
        "FEVER", "react-fever", by_name("paper"), _WIKI, _raw, _comparable_turn, _bracketed, _AGAIN
    ),
    Format("WebShop", "react-webshop", by_name("paper"), _SHOP, _begun, _shop, _bracketed, _AGAIN),
    Format(
        "FireAct",
        "fireact-hotpot",
        by_name("paper"),
        _WIKI,
        _raw,
        _comparable_turn,
        _bracketed,
        _AGAIN,
    ),
    Format(
        "Reflexion",
        "reflexion-hotpot",
        by_name("paper"),
        _WIKI,
        _joined,
        _comparable_turn,
        _bracketed,
        _AGAIN,
    ),
    Format(
        "MedAgent",
        "medagent",
        _MEDICAL,
        (
            _tool("get", "read", url=TEXT),
            _tool("post", "unsafe", url=TEXT, body={"type": "object"}),
        ),
        _raw,
        _medical_turn,
        _medical_plain,
        re.compile(r"\n(?:GET |POST |FINISH ?[(\[])"),
    ),
    Format(
        "SWE, code block",
        "sweagent",
        _block("block", "```\n{command}\n```"),
        _SHELL,
        _raw,
        _comparable_turn,
        _quoted("```", "```"),
        of=lambda record: record["format"].startswith("text"),
        elsewhere=_native,
    ),
    Format(
        "SWE, XML",
        "sweagent",
        _block("xml", "<command>\n{command}\n</command>"),
        _SHELL,
        _raw,
        _comparable_turn,
        _quoted("<command>", "</command>"),
        of=lambda record: record["format"].startswith("xml"),
        elsewhere=_native,
    ),
)
"""In the order of the page."""


def plainly(form: Format, text: str) -> set[tuple[str, tuple[Any, ...]]]:
    """Every way to take the first call that a reply plainly holds; none where it holds no call.

    What cannot be compared (a payload) is given as its JSON text.
    """
    return {comparable(one) for one in form.plain(text)}


def comparable(turn: ComparableTurn) -> tuple[str, tuple[Any, ...]]:
    """A call to be looked up among others."""
    name, args = turn.called
    return name, tuple(arg if isinstance(arg, str) else json.dumps(arg) for arg in args)


def rewritten(name: str, form: Format, turn: Turn) -> str:
    """A turn's thought and action in another format; empty where no action was recorded."""
    recorded = form.recorded(turn)
    if not recorded.name:
        return ""
    tool = next(
        (tool for tool in form.tools if tool.name == recorded.name), form.prompt_spec.finish
    )
    args = dict(zip(tool.parameters["required"], recorded.args, strict=True))
    if name == "json":
        return json.dumps({"thought": recorded.thought, "action": recorded.name, "args": args})
    text = json.dumps(args)
    return f"Thought: {recorded.thought}\nAction: {recorded.name}\nAction Input: {text}"
