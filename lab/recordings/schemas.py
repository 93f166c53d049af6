"""Published function sets as tools: all of them usable, gold calls valid, wrong calls refused.

What a call must look like is worked out here anew from what was published (`_KINDS`), and compared
with what clew makes of it.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import anyio
import msgspec

from clew import Agent, ClewError, ConfigError, MemoryStore, read, run
from clew.core.actions import Action
from clew.core.prompts import Part, Prompt
from clew.guards import Provenance
from clew.testing.models import Move, ScriptedModel, say
from clew.tools.definitions import Published, published
from clew.tools.schema import problems
from clew_testing.servers.http_server import Say
from recordings.allowed import forbidden
from recordings.data import records
from recordings.forms import Record
from recordings.forms import functions as definitions
from recordings.inside import APIS, Strict, over, service
from recordings.part import Judging, count
from recordings.part import Part as Evidence

_KINDS: Final[Mapping[str, Any]] = {
    **dict.fromkeys(("string", "char"), 12345),
    **dict.fromkeys(("integer", "float", "double", "number", "long", "short", "byte"), "eleven"),
    "boolean": "perhaps",
    **dict.fromkeys(("array", "tuple", "list", "arraylist"), "eleven"),
    **dict.fromkeys(("dict", "object", "hashmap"), "eleven"),
}
"""For a published type, a value that is none of it. Other types let any value pass."""

_WRONG: Final = {
    "missing": "one required argument missing",
    "extra": "one argument too many",
    "type": "one value of a wrong type",
    "in a run": "every 25th of these calls, in a run of its own",
}
_EXTRA: Final = "an_argument_nobody_declared"
_EVERY: Final = 25
"""Every so many wrong calls are made in a run of their own as well."""


@dataclass
class SchemaTally:
    """What was counted on the way."""

    sets: int = 0
    usable: int = 0
    tools: int = 0
    changed: Counter[str] = field(default_factory=Counter[str])
    silent: list[str] = field(default_factory=list[str])
    valid: int = 0
    refused_wrongly: int = 0
    rest: Counter[str] = field(default_factory=Counter[str])
    """Why gold calls are no calls of their own definitions."""
    back: int = 0
    wrong: Counter[str] = field(default_factory=Counter[str])
    refused: Counter[str] = field(default_factory=Counter[str])
    accepted: Counter[str] = field(default_factory=Counter[str])
    asked: Counter[str] = field(default_factory=Counter[str])
    named: Counter[str] = field(default_factory=Counter[str])
    misses: list[str] = field(default_factory=list[str])
    told: list[str] = field(default_factory=list[str])
    judging: Judging = field(default_factory=Judging)

    @property
    def gold(self) -> int:
        """How many gold calls there were that their definitions allow."""
        return self.valid + self.refused_wrongly


async def _echo(name: str, args: dict[str, Any], key: str) -> dict[str, Any]:
    """What a published tool was called with."""
    return {"name": name, "args": args}


# ---------------------------------------------------------------- what is published


def silent(
    written: Any, made: Any, changes: tuple[str, ...], own: Mapping[str, str]
) -> Iterator[str]:
    """Places where a schema was changed and no line says so; `own` are the names that changed."""
    told = {_path_text(line, own) for line in changes}
    if own and "properties" in written:
        named = {own.get(name, name): inner for name, inner in written["properties"].items()}
        required = [own.get(name, name) for name in written.get("required", ())]
        written = written | {"properties": named} | ({"required": required} if required else {})
    for path, before, after in _pairs(written, made, ""):
        if before != after and (path or "parameters") not in told:
            yield f"{path or 'parameters'}: {before!r} became {after!r} without a word"


def _path_text(line: str, own: Mapping[str, str]) -> str:
    """Where a change was made, by the tool's own names."""
    first, dot, rest = line.partition(":")[0].partition(".")
    return f"{own.get(first, first)}{dot}{rest}"


def _pairs(before: Any, after: Any, location: str) -> Iterator[tuple[str, Any, Any]]:
    """Each schema of a published one beside what became of it, without the schemas inside them."""
    inside = ("properties", "items")
    if not isinstance(before, dict) or not isinstance(after, dict):
        yield location, before, after
        return
    yield location, _own(before, inside), _own(after, inside)
    named = _dict(before.get("properties"))
    became = _dict(_within(after, "properties"))
    for name, inner in named.items():
        where = f"{location}.{name}" if location else name
        yield from _pairs(inner, became[name], where) if name in became else [(where, inner, None)]
    if isinstance(before.get("items"), dict):
        yield from _pairs(before["items"], _within(after, "items"), location)


def _own(schema: Mapping[str, Any], inside: tuple[str, ...]) -> dict[str, Any]:
    return {key: value for key, value in schema.items() if key not in inside}


def _within(schema: Mapping[str, Any], key: str) -> Any:
    """What lies under a keyword, also where the schema has become one of two."""
    if key in schema or "anyOf" not in schema:
        return schema.get(key)
    return schema["anyOf"][0].get(key)


def _dict(value: Any) -> dict[str, Any]:
    return msgspec.convert(value, dict[str, Any]) if isinstance(value, dict) else {}


# ---------------------------------------------------------------- gold calls


def gold_calls(record: Record) -> Iterator[tuple[str, dict[str, Any]]]:
    """The gold calls: of each argument the first value that is allowed.

    An empty text among the allowed says that the argument may be left out; it is left out where
    nothing else is allowed.
    """
    required = {
        tool["name"]: _dict(tool.get("parameters")).get("required") or []
        for tool in definitions(record["tools"])
    }
    for call in record["gold"] or ():
        for name, args in call.items():
            yield name, _chosen(args, required.get(name, []))


def _chosen(args: Mapping[str, Any], required: Any = ()) -> dict[str, Any]:
    chosen: dict[str, Any] = {}
    for name, allowed in args.items():
        values = [allowed] if not isinstance(allowed, list) else msgspec.convert(allowed, list[Any])
        nonempty = [value for value in values if value != ""]
        if nonempty or name in required or not values:
            chosen[name] = _plain(nonempty[0] if nonempty else "")
    return chosen


def _plain(value: Any) -> Any:
    """A value whose inner objects name allowed values as well."""
    if isinstance(value, dict):
        return _chosen(_dict(value))
    if isinstance(value, list):
        return [_plain(each) for each in msgspec.convert(value, list[Any])]
    return value


# ---------------------------------------------------------------- wrong calls


def wrong_calls(
    definition: Record, args: Mapping[str, Any], tool: Published
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Calls with one mistake each, by what was published; arguments under the tool's own names."""
    parameters = _dict(definition.get("parameters"))
    own = {old: new for new, old in tool.renamed.items()}
    right = {own.get(name, name): value for name, value in args.items()}
    for name in parameters.get("required") or ():
        if own.get(name, name) in right:
            yield "missing", {key: it for key, it in right.items() if key != own.get(name, name)}
    if "additionalProperties" not in parameters:
        yield "extra", right | {_EXTRA: 1}
    for name, schema in _dict(parameters.get("properties")).items():
        kind = str(_dict(schema).get("type", "")).casefold()
        if name in args and kind in _KINDS:
            yield "type", right | {own.get(name, name): _KINDS[kind]}


async def refused_in_a_run(definition: Record, args: dict[str, Any]) -> bool:
    """Whether a whole run refuses the call, tells the model so, and calls nothing."""
    called = list[str]()

    async def note(name: str, args: dict[str, Any], key: str) -> str:
        called.append(name)
        return "done"

    store, made = MemoryStore(), published([definition], note)[0].tool
    model = ScriptedModel([Move("", (Action(made.name, args),)), say("I cannot.")])
    result = await run(
        Agent(model=model, tools=[made], guards=[Provenance("off")]), "?", store=store
    )
    observed = (await read(result.run_id, store=store)).calls[0].observation
    return not called and observed is not None and observed.code == "invalid_arguments"


# ---------------------------------------------------------------- providers


async def accepted(form: str, tools: tuple[Published, ...]) -> tuple[str, bool]:
    """Why a strict service refuses the tools ("" where it takes them), and whether a reply that
    calls each by the name it was declared with comes back with their own names.
    """

    def calls_all(body: dict[str, Any]) -> Say:
        return Say(calls=[(name, "{}") for name in declared(form, body)])

    carrier = Strict(service(form), calls_all)
    prompt = Prompt((Part("user", "?"),), (), tools=tuple(each.tool for each in tools))
    try:
        reply = await over(APIS[form]("a-model"), carrier).complete(prompt)
    except ClewError as error:
        return str(error), False
    own = [each.tool.name for each in tools]
    return "; ".join(carrier.refused), [call.name for call in reply.calls] == own


def declared(form: str, body: dict[str, Any]) -> list[str]:
    """The names that a request declares its tools by."""
    tools: list[Any] = body.get("tools", [])
    if form == "gemini":
        tools = [each for tool in tools for each in tool["functionDeclarations"]]
    return [(tool["function"] if form == "openai-chat" else tool)["name"] for tool in tools]


# ---------------------------------------------------------------- measuring


async def _take(record: Record, tally: SchemaTally) -> None:
    """Count what one set of functions shows."""
    tally.sets += 1
    listed = definitions(record["tools"])
    try:
        tools = published(listed, _echo)
        Agent(model=ScriptedModel([]), tools=[each.tool for each in tools])
    except ConfigError as error:
        tally.misses.append(f"{record['id']}: not usable: {error}")
        return
    tally.usable += 1
    tally.tools += len(tools)
    for definition, made in zip(listed, tools, strict=True):
        tally.changed.update(_sort(line) for line in made.changes)
        names = {old: new for new, old in made.renamed.items()}
        lost = silent(
            _dict(definition.get("parameters")), made.tool.parameters, made.changes, names
        )
        tally.silent += [f"{record['id']}: {line}" for line in lost]
    by_name = {made.name: (it, made) for it, made in zip(listed, tools, strict=True)}
    for name, args in gold_calls(record):
        await _take_gold(record["id"], name, args, by_name, tally)
    for form in APIS:
        why, named = await accepted(form, tools)
        tally.asked[form] += 1
        tally.accepted[form] += not why
        tally.named[form] += named
        if why or not named:
            tally.misses.append(f"{record['id']}: {form}: {why or 'names did not come back'}")


def _sort(line: str) -> str:
    """A change without its place and its values."""
    what = line.partition(": ")[2]
    return re.sub(r"default, .*, is let", "default is let", what)


async def _take_gold(
    id_: str,
    name: str,
    args: dict[str, Any],
    by_name: Mapping[str, tuple[Record, Published]],
    tally: SchemaTally,
) -> None:
    if name not in by_name:
        tally.rest["a function that is not in the set"] += 1
        tally.told.append(f"{id_}: gold calls {name}, which is not in its set")
        return
    definition, made = by_name[name]
    own = {old: new for new, old in made.renamed.items()}
    mine = {own.get(key, key): value for key, value in args.items()}
    if lines := problems(made.tool.parameters, mine):
        if why := forbidden(definition.get("parameters"), args):
            tally.rest[why.partition(": ")[0]] += 1
            tally.told.append(f"{id_}: {name}: {'; '.join(lines)}; so says its definition: {why}")
        else:
            tally.refused_wrongly += 1
            tally.misses.append(f"{id_}: {name}: refused, though allowed: {'; '.join(lines)}")
        return
    tally.valid += 1
    tally.back += await made.tool.call(mine, "key") == {"name": name, "args": args}
    for kind, wrong in wrong_calls(definition, args, made):
        tally.wrong[kind] += 1
        refused = bool(problems(made.tool.parameters, wrong))
        if tally.wrong[kind] % _EVERY == 1:
            tally.wrong["in a run"] += 1
            in_a_run = await refused_in_a_run(definition, wrong)
            tally.refused["in a run"] += in_a_run
            refused = refused and in_a_run
        tally.refused[kind] += refused
        if not refused:
            tally.misses.append(f"{id_}: {name}: taken, though wrong ({kind}): {wrong}")


def measure(sample: int) -> Evidence:
    """Hold published function sets, and their gold calls, against clew's tools."""
    return evidence(records("bfcl-single", sample=sample))


def evidence(sets: Iterable[Record]) -> Evidence:
    """What these sets show."""

    async def all_of_them() -> SchemaTally:
        tally = SchemaTally()
        for record in sets:
            with tally.judging.one(record.get("id")):
                await _take(record, tally)
        return tally

    return _told(anyio.run(all_of_them))


def _told(tally: SchemaTally) -> Evidence:
    changed = ", ".join(f"{what} ({times:,})" for what, times in tally.changed.most_common())
    rest = ", ".join(f"{what} ({times:,})" for what, times in tally.rest.most_common())
    figures = [
        count("sets usable as tools", tally.usable, tally.sets, exactly=tally.sets),
        count("changes of a schema that no line tells", len(tally.silent), tally.tools, exactly=0),
        count(
            "gold calls that their definitions allow, allowed",
            tally.valid,
            tally.gold,
            exactly=tally.gold,
        ),
        count(
            "gold calls that their own definitions forbid",
            tally.rest.total(),
            tally.gold + tally.rest.total(),
        ),
        count(
            "gold calls performed by published names", tally.back, tally.valid, exactly=tally.valid
        ),
    ]
    figures += [
        count(f"refused: {_WRONG[kind]}", tally.refused[kind], of, exactly=of)
        for kind, of in tally.wrong.items()
    ]
    for form, of in tally.asked.items():
        figures += [
            count(f"sets declared to {form}, accepted", tally.accepted[form], of, exactly=of),
            count(f"names that come back from {form}", tally.named[form], of, exactly=of),
        ]
    figures += tally.judging.figures()
    text = f"""\
{tally.sets:,} function sets of the Berkeley Function Calling Leaderboard (v4), {tally.tools:,}
definitions, become tools through `clew.tools`. A gold call takes the first value that is allowed
for each argument; a wrong call is a gold call with one mistake, worked out from the published
schema. Requests must pass the strict rules of `clew.testing`; a reply calls every tool by its
declared name. A gold call that its own definition forbids, by a reader independent of clew, or of a
function outside its set, is listed and does not count.

Read otherwise than written: {changed or "nothing"}.
Gold calls that their own definitions forbid: {rest or "none"}.
"""
    misses = [*tally.judging.misses, *tally.silent, *tally.misses, *tally.told]
    return Evidence(
        "Schemas: published function sets", text, figures, misses,
        finding="published functions are usable as they are; right calls pass, wrong ones do not",
        lead=(
            "sets usable as tools",
            "gold calls that their definitions allow, allowed",
            f"refused: {_WRONG['type']}",
        ),
    )  # fmt: skip
