"""Every spelling of a call, with values that hurt, cut at every character: what is made of it.

    python -m tests.codecs.call_fuzz [--seed N] [--values N] [--real N]

The tool has an effect. Three outcomes are allowed: the call to the letter, a fault, and an answer
as long as no declared name stands in markup. Of a reply that was cut nothing is called, unless only
signs are missing that end a turn or stand for nothing. Real arguments come from the folder that
CLEW_RECORDINGS names; without it they are left out.
"""

import argparse
import gzip
import json
import os
import random
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from clew.codecs import by_name
from clew.codecs.arguments import tool_named
from clew.codecs.text_answer import as_calls
from clew.core.actions import Action
from clew.core.codec import Codec, PromptSpec
from clew.core.codes import FINISH
from clew.core.contents import Reply
from tests.codecs.call_forms import FAULTY, READ, VALUES
from tests.codecs.samples import TEXT, installed, prompt_spec, step, tool


def _commands() -> list[Codec]:
    """Commands with a form for one tool, where the package that has them is installed."""
    if find_spec("clew_code") is None:
        return []
    module = import_module("clew_code.codec.commands")
    forms = (module.Command("ex", "```\n{cmd}\n```"), module.Command("finish", "FINISH({answer})"))
    return [module.Commands(forms, dialect="fuzz")]


COMMANDS: Final = _commands()
CODECS: Final = (
    *installed("native", "labelled", "paper", "json", "code"),
    *("commands" for _ in COMMANDS),
)
ENDS: Final = re.compile(r"(<\|call\|>|<\|eom_id\|>|<｜end▁of▁sentence｜>)?[\w ,.]*")
"""What may be missing at the end: the sign with which a model stops, or words behind the call."""

_KINDS: Final = {str: "string", bool: "boolean", int: "integer", float: "number", list: "array",
                 dict: "object", type(None): "null"}  # fmt: skip


def outcome(codec: Codec, asked: PromptSpec, text: str) -> tuple[Action, ...] | str:
    """The calls of a reply, or "fault" or "answer", as a run would have it."""
    parsed = codec.parse(asked, Reply(text))
    if parsed.fault:
        return "fault"
    answers = [
        parsed.answer,
        *(each.args.get("answer") for each in parsed.actions if each.name == FINISH),
    ]
    for answer in answers:
        if isinstance(answer, str):
            return "answer" if as_calls(asked, answer) is None else "fault"
    known = [each for each in parsed.actions if tool_named(asked, each.name)]
    return parsed.actions if known else "fault"  # which a run says of a tool that is none


def wrong(
    codec: Codec, asked: PromptSpec, text: str, cut: int, call: Action, start: int = 0
) -> tuple[str, str]:
    """What became of a reply cut at a place, and why that must not be ("" where it may)."""
    found = outcome(codec, asked, text[:cut])
    if found == "fault":
        return "fault", ""
    if found == "answer":
        ahead = text[start:cut]
        named = ahead.find(call.name)
        in_markup = named >= 0 and re.fullmatch(rf"(I will [\w ]*: `?)?{call.name}", ahead) is None
        return "answer", "a name in markup became an answer" if in_markup else ""
    if found != (call,):
        return "call", f"another call: {found}"
    missing = text[cut:].strip()
    return "call", "" if ENDS.fullmatch(
        missing
    ) else f"a cut reply was executed, without {missing!r}"


def own_form(codec: Codec, asked: PromptSpec, call: Action) -> str:
    """The reply that makes a call in a text format's own form."""
    return codec.render(asked, step("", call))[0].text


def values(seed: int, count: int) -> list[str]:
    """The values that hurt, then combinations of them."""
    chance = random.Random(seed)
    joined = ["".join(chance.choices(VALUES, k=chance.randint(2, 3))) for _ in range(count)]
    return [*VALUES, *joined]


def asked_for(calls: Iterable[Action]) -> PromptSpec:
    """A brief with a tool for each call, each with an effect."""
    tools = {}
    for call in calls:
        schemas = {key: {"type": _KINDS[type(value)]} for key, value in call.args.items()}
        tools[call.name] = tool(call.name, *schemas, effect="unsafe", **schemas)
    tools["search"] = tool("search", "query", query=TEXT)
    return prompt_spec(tools=tuple(tools.values()))


def forms(name: str, asked: PromptSpec, call: Action) -> Iterator[tuple[str, str, int]]:
    """The replies that are to make a call: the spelling, the reply, where its call begins."""
    if name != "native":
        yield "its own", own_form(codec_named(name), asked, call), 0
    for spelling, spelled in {**READ, **FAULTY}.items():
        text = spelled(call.name, call.args)
        if name == "commands" and "```" in text:
            continue  # there the block is the command
        yield spelling, text, 0
        if name == "native" and spelling in READ:
            ahead = "I will do that now.\n\n"
            yield f"{spelling}, behind words", ahead + text, len(ahead)


@cache
def codec_named(name: str) -> Codec:
    """A codec, among them commands with a form for each tool."""
    return COMMANDS[0] if name == "commands" else by_name(name)


def real_calls(folder: Path, count: int, seed: int) -> list[Action]:
    """Calls that models made, from recordings, with arguments of all kinds."""
    found: dict[str, Action] = {}
    for file in sorted(folder.glob("visible-tau*.jsonl.gz")):
        with gzip.open(file, "rt", encoding="utf-8") as lines:
            for line in lines:
                for turn in json.loads(line).get("turns") or []:
                    for made in turn.get("actions") or []:
                        args = made.get("args")
                        if isinstance(args, dict) and args and made["name"].isidentifier():
                            found.setdefault(json.dumps(args), Action(made["name"], args))
    every = list(found.values())
    return random.Random(seed).sample(every, min(count, len(every)))


def tried(name: str, call: Action, cuts: int | None, seed: int) -> Counter[str]:
    """All forms of a call through one codec, cut at every place or at so many."""
    asked, codec = asked_for([call]), codec_named(name)
    counts: Counter[str] = Counter()
    for spelling, text, start in forms(name, asked, call):
        places: Sequence[int] = range(len(text) + 1)
        if cuts is not None and len(text) > cuts:
            chance = random.Random(f"{seed} {spelling} {text}")
            places = sorted({*chance.sample(places, cuts), len(text)})
        for cut in places:
            what, why = wrong(codec, asked, text, cut, call, start)
            counts[f"{what}, {'whole' if cut == len(text) else 'cut'}"] += 1
            if why:
                counts["wrong"] += 1
                if counts["wrong"] <= SHOWN:
                    sys.stderr.write(f"{name} {spelling}: {text[:cut]!r}: {why}\n")
    return counts


SHOWN: Final = 3


def report(args: argparse.Namespace) -> dict[str, Counter[str]]:
    """The counts for each codec."""
    calls = [Action("ex", {"cmd": value}) for value in values(args.seed, args.values)]
    calls += [Action("ex", {"cmd": value, "count": 3, "where": value[::-1]}) for value in VALUES]
    folder = Path(os.environ.get("CLEW_RECORDINGS", "/nowhere"))
    calls += real_calls(folder, args.real, args.seed) if folder.is_dir() else []
    found: dict[str, Counter[str]] = {}
    for name in args.codec or CODECS:
        found[name] = Counter()
        for call in calls:
            found[name] += tried(name, call, args.cuts, args.seed)
    return found


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--values", type=int, default=20)
    parser.add_argument("--real", type=int, default=20)
    parser.add_argument("--cuts", type=int)
    parser.add_argument("--codec", action="append")
    sys.stdout.write(json.dumps(report(parser.parse_args()), indent=2, sort_keys=True) + "\n")
