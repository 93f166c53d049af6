"""What the parts of formats make of odd texts, for files of `told`.

That is JSON as models write it, streams that come sign by sign, values for schemas, and calls in
spellings that nobody reads.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, Final

from clew.codecs.arguments import example, text_field, typed, types
from clew.codecs.json_repair import UnreadableError, complete_value, first_value, repeated_key
from clew.codecs.native import Native
from clew.codecs.own_literals import only_literals
from clew.codecs.quoted_answers import has_no_quotes, without_quotes
from clew.codecs.schema_references import resolved
from clew.core.actions import Action
from clew.core.codec import Codec, Parsed, PromptSpec
from clew.core.contents import RawCall, Reply
from clew.core.tools import Parameters
from tests.codecs.samples import POINT, TEXT, TOOLS, prompt_spec, tool
from tests.codecs.unread_calls import ASKED, SPELLINGS

VALUES: Final = (
    "",
    " ",
    "1",
    " 1 ",
    "1 2",
    "-1.5e3",
    "1e999",
    "-1e999",
    "01",
    "9" * 5000,
    "NaN",
    "-Infinity",
    '"a"',
    '"a',
    "'a'",
    "'a",
    "'a \"b\" \\' \\\\ \\n \n'",
    '"a\n\tb\x01"',
    '"\\ud83d"',
    '"\\ud83d\\ude00"',
    "'\\ud83d'",
    "true",
    "True",
    "[True, False, None, undefined]",
    "[]",
    "[1,]",
    "[1,,]",
    "[,]",
    "[1 2]",
    "[1",
    "]",
    "{}",
    "{,}",
    '{"a": 1,}',
    '{"a": 1 "b": 2}',
    '{"a" 1}',
    '{"a":}',
    '{"a": 1',
    '{"a": "b',
    '{"a": 1, "a": 2}',
    '{"a": {"b": 1, "b": 2}}',
    '{"a": 1, "b": {"a": 2}}',
    "{a: 1}",
    "{a : 1}",
    "{a-b: 1}",
    "{$a_1: x}",
    "{'a': 'b', 'a': 'c'}",
    '{"a": 1} and more',
    '{"a": 1}}',
    '{"a": 1 // one\n}',
    '{"a": 1 # one\n}',
    '{"a": /* one * two */ 1}',
    '{"a": /* one',
    '{"a": 1 /',
    '// one\n{"a": 1}',
    "[" * 64 + "]" * 64,
    "[" * 65 + "]" * 65,
    "{'a': " * 65 + "1" + "}" * 65,
    "words",
    "{words}",
    "@",
)

THOUGHTS: Final = (
    '{"thought": "I look.", "action": "now"}',
    '{"action": "now", "thought": "late"}',
    '{"thought": "a\\nb\\t\\"c\\" \\\\ \\/ \\b\\f\\r \\x", "action": "now"}',
    '{"thought": "\\u00e9\\ud83d\\ude00\\ud83d!\\ude00\\u12g4\\u12", "action": "now"}',
    "{'thought': 'it\\'s \"so\"', 'action': 'now'}",
    "{thought: 'bare', action: 'now'}",
    "{ thought : 'bare', thoughts: 'none'}",
    '{"thoughtfully_yes": "no", "thought": "yes"}',
    '{"args": {"thought": "inner"}, "thought": "outer"}',
    '{"args": ["thought", {"a": "}"}], "thought": "outer"}',
    '{"a": "thought", "b": "c", "thought": "yes"}',
    '{"thought": ["no"], "action": "now"}',
    '{"thought": "yes" /* } */, "action": "now"} behind',
    '{"thought": "yes" /** } * / **/, "action": "now"}\nObservation: no',
    '{// "thought": "no"\n"thought": "yes"}\nmore',
    '{# "thought": "no"\n"thought": "yes"}\nmore',
    '{/ "thought": "no"}',
    'So.\n{"thought": "yes"}\n{"action": "now"}',
    'So.\n```json\n{"thought": "yes"}\n```\nmore',
    '```json\n[{"thought": "yes"}]',
    'I say {"thought": "no"}\n{"thought": "yes"}',
    "So.\nObservation: no\nmore",
    "Observation: no",
    "Observe this.\nObservations: two\nObservation",
    "`code` and\n``two\n```\nthree",
    "Question: a\nObservation 2: b",
)

LINES: Final = (
    "Thought: I look.\nAction: search\nAction Input: {}\nObservation: no\nmore",
    "Thought: I look.\nAction: search\nAction Input: {}\n\nThought: no",
    "Action: none\nAction: now\nAction: search",
    "Observation: again\nFinal Answer: 4\nThought: so\nObservation: no",
    "Observation: again\nAction: now",
    "Final Answer: 4\nAction: now\nQuestion: b\nAction Input: {}",
    "Thought: a\nQuestion: b\nAction: now\nQuestion: c",
    "I look.\nAction: now\nObservation: no",
    "**Action:** now\n**Observation:** no",
    f"{' ' * 60}Action: now\nObservation: no",
    f"{' ' * 50}Action: now\nObservation: no",
    "Act\nAction\nAction (2.) : now\nObservation: no\n",
    "Action Input: {}\nAction Input: {}\nAction: now",
    "Action: now\r\nObservation: no\r\n",
)

SCHEMAS: Final[Sequence[Parameters]] = (
    {},
    TEXT,
    {"type": "integer"},
    {"type": "number"},
    {"type": ["integer", "null"]},
    {"type": "boolean"},
    {"type": "array"},
    {"type": "object"},
    {"type": ["object", "array"]},
    {"const": 4},
    {"enum": ["a", 1, None, 1.5, True, [], {}]},
    {"anyOf": [{"type": "null"}, {"oneOf": [{"type": "integer"}, {"const": "x"}]}]},
    {"oneOf": [{"type": "boolean"}, {"type": "object"}]},
    {"type": "string", "examples": ["one"], "enum": ["two"]},
    {"type": "string", "enum": ["two"]},
    {"type": "string", "minLength": 9},
    {"type": "integer", "minimum": 7},
    {"anyOf": [{"type": "string", "pattern": "^x$"}]},
)

TEXTS: Final = ("", "a", "4", "4.5", "true", "null", "[1]", "[1", "{}", '{"a": 1} b', '"q"')

ANSWER_SCHEMAS: Final[Sequence[Parameters]] = (
    TEXT,
    *({"type": "string", "format": kind} for kind in ("date", "date-time", "time", "duration")),
    {"type": "string", "format": "uuid"},
    {"type": "string", "format": "email"},
    {"type": "string", "enum": ["a", '"b"']},
    {"type": "string", "const": "a"},
    {"type": "string", "maxLength": 3},
    {"type": "string", "minLength": 3},
    {"type": "string", "pattern": "^[A-Z]+$"},
    {"type": "string", "pattern": '^"?[a-z]+"?$'},
    {"type": "string", "pattern": "("},
    {"type": "string", "contentEncoding": "base64"},
    {"anyOf": [{"type": "null"}, {"type": "string", "format": "date"}]},
    {"oneOf": [{"type": "integer"}, TEXT]},
    {"$ref": "#/$defs/D", "$defs": {"D": {"type": "string", "enum": ["a", "abc"]}}},
    {"type": "integer"},
)
QUOTED: Final = (
    '"a"',
    ' "a" ',
    '"abcd"',
    '"ABC"',
    '"2026-02-03"',
    '"a',
    'a"',
    '""',
    '"a" "b"',
    "a",
)

PROGRAMS: Final = (
    "",
    "x = 1",
    "print(1)",
    "'a'",
    "x = 'a'\nprint(x)",
    "print(y)",
    "print('a' + str(1))",
    "print(1 + 1)",
    "print(f'{1}' + 'b')",
    "x: int = -1\nx",
    "print([1, (2, {3}), {'a': +4}], sep='')",
    "print(len('a'))",
    "print = 1\nprint",
    "display(repr('a'))",
    "for x in [1]: print(x)",
    "import os\nprint(1)",
    "print(",
    "x = 1\ny = x\n'b' + y",
    "print('a' * 3)",
    f"print({'1' * 20_000})",
    f"print('{'a' * 19_991}')",
)

FORMS: Final = {
    "unsafe": ("cancel_booking", "reservation_id"),
    "reads": ("search", "query"),
    "compound": ("get_weather", "city"),
    "a word": ("population", "city"),
    "optional": ("send", "text"),
    "a number": ("search", "limit"),
    "no parameter": ("now", "key"),
    "in two words": ("get weather", "city"),
}

DEFINED: Final = tool(
    "tree",
    "root",
    root={"$ref": "#/$defs/Node"},
    other={"$ref": "#/definitions/Leaf"},
    whole={"$ref": "#"},
    part={"$ref": "#/properties/root"},
    apart={"$ref": "https://example.org/x"},
    data={"const": {"$ref": "#/$defs/Node"}, "default": {"$ref": "#"}},
    many={"anyOf": [{"$ref": "#/$defs/Node"}, {"type": "null"}]},
)
DEFINED.parameters["$defs"] = {"Node": {"properties": {"$ref": TEXT, "up": {"$ref": "#"}}}}
DEFINED.parameters["definitions"] = {"Leaf": {"type": "object"}}


def tried(read: Callable[[str], Any], text: str) -> str:
    """What comes of a text, or why nothing does."""
    try:
        return repr(read(text))[:200]
    except UnreadableError as error:
        return f"({error})"


def values() -> Iterator[str]:
    """JSON as models write it."""
    for text in VALUES:
        yield f"\n> {text[:80]!r}"
        yield f"first: {tried(first_value, text)}"
        yield f"whole: {tried(complete_value, text)}"
        yield f"twice: {repeated_key(text)}"


def streams(codec: Codec, texts: Sequence[str]) -> Iterator[str]:
    """What is shown of a reply that comes sign by sign, and where no more of it is wanted."""
    for text in texts:
        shown: list[str] = []
        take = codec.stream_filter(shown.append)
        ends = [at for at, sign in enumerate(text, start=1) if take(sign)]
        at_once: list[str] = []
        codec.stream_filter(at_once.append)(text)
        assert "".join(shown) == "".join(at_once)
        yield f"\n> {text!r}"
        yield f"shown: {''.join(shown)!r}"
        yield f"ended at {ends[0]} of {len(text)}" if ends else "went on"


def arguments() -> Iterator[str]:
    """Texts as values for schemas, and values to show for them."""
    for schema in SCHEMAS:
        yield f"\n> {schema}"
        yield f"types: {', '.join(sorted(types(schema)))}"
        value = partial(typed, schema=schema)
        yield from (f"{text!r}: {tried(value, text)}" for text in TEXTS)
        yield f"example: {example(tool('one', 'x', x=schema, y=TEXT))}"
        yield f"field: {text_field(tool('one', x=schema).parameters)}"
    yield f"\nfields: {[text_field(each.parameters) for each in TOOLS]}"
    yield f"examples: {[example(each) for each in TOOLS if each.name != 'spot']}"
    root = {"$defs": {"a/b": {"$ref": "#/$defs/c~d"}, "c~d": POINT, "e": {"$ref": "#/$defs/e"}}}
    for to in ("#/$defs/a~1b", "#/$defs/c~0d", "#/$defs/e", "#/$defs/no", "#", "$defs/e", 4):
        yield f"{to}: {resolved(root, {'$ref': to})}"
    yield f"none: {resolved(root, True)}, {resolved(root, POINT)}"


def quotes() -> Iterator[str]:
    """Answers of a type that is a text in JSON, in the quotes of JSON."""
    for schema in ANSWER_SCHEMAS:
        spec = prompt_spec(schema)
        yield f"\n> {schema}, no quotes: {has_no_quotes(spec)}"
        for text in QUOTED:
            bare = without_quotes(spec, Parsed(answer=text, repairs=("x",)))
            calls = (Action("now"), Action("finish", {"answer": text, "more": 1}))
            called = without_quotes(spec, Parsed(actions=calls))
            yield (
                f"{text}: {bare.answer} {len(bare.repairs)}, "
                f"{called.actions[1].args} {', '.join(called.repairs)}"
            )
    other = (
        Action("now", {"answer": '"a"'}),
        Action("finish", {"answer": ["a"]}),
        Action("finish", {"answer": '"a"'}, fault="x"),
    )
    spec = prompt_spec({"type": "string", "enum": ["a"]})
    yield f"others: {without_quotes(spec, Parsed(actions=other)) == Parsed(actions=other)}"


def programs() -> Iterator[str]:
    """Programs that show nothing but what is written in them."""
    yield from (f"{only_literals(code)}: {code[:60]!r}" for code in PROGRAMS)


def kind_of(spec: PromptSpec, text: str) -> str:
    """A letter for what a reply is: an answer, a fault, or a call."""
    parsed = Native().parse(spec, Reply(text))
    return "c" if parsed.actions else "f" if parsed.fault else "a"


def unread() -> Iterator[str]:
    """Spellings that nobody reads, of all kinds of tools, and each without one of its words."""
    for spelling in SPELLINGS:
        texts = [spelling.replace("NAME", name).replace("KEY", key) for name, key in FORMS.values()]
        whole = "".join(kind_of(ASKED, text) for text in texts)
        pieces = texts[0].split(" ")
        less = "".join(
            kind_of(ASKED, " ".join([*pieces[:at], *pieces[at + 1 :]])) for at in range(len(pieces))
        )
        words = kind_of(ASKED, f"I hope so. {texts[0]}") + kind_of(ASKED, f"{texts[0]} and more")
        halves = "".join(kind_of(ASKED, texts[0][:at]) for at in range(4, len(texts[0]), 4))
        yield f"{spelling!r}: {whole}, {less}, {words}, {halves}"


# ---------------------------------------------------------------------------- beside other words

AHEAD: Final = (
    "",
    "I look.\n",
    "I look: ",
    f"{'So it is. ' * 24}\n\n",
    "For example:\n",
    "<param>\n",
)
BEHIND: Final = ("", "\n```", "}", " and more", "\n\nIt is done.", "\n</tool_call>", "\nnow()")
SHAPES: Final[dict[str, Callable[[str], str]]] = {
    "as it is": str,
    "Hermes": "<tool_call>{}</tool_call>".format,
    "a fence": "```json\n{}\n```".format,
    "a fence of calls": "```tool_call\n{}\n```".format,
    "inline": "`{}`".format,
    "a list": "[{}]".format,
    "never closed": "<tool_call>{}".format,
}
MADE: Final = {
    "reads": '{"name": "search", "arguments": {"query": "a"}}',
    "acts": '{"name": "delete", "arguments": {"path": "a"}}',
    "answers": '{"name": "finish", "arguments": {"answer": "4"}}',
    "unknown": '{"name": "nonesuch", "arguments": {"a": 1}}',
    "lacks": '{"name": "search", "arguments": {}}',
    "of a type": '{"name": "web_search", "arguments": {"query": "a", "limit": 1.5}}',
    "in Python": 'search(query="a")',
    "acting in Python": 'delete(path="a")',
    "tags": "<function=search><parameter=query>a</parameter></function>",
    "acting tags": "<function=delete>\n<parameter=path>\na\n</parameter>\n</function>",
    "labels": 'Action: search\nAction Input: {"query": "a"}',
    "acting labels": 'Action: delete\nAction Input: {"path": "a"}',
}


def _outcome(parsed: Parsed | None) -> str:
    if parsed is None:
        return "none"
    calls = " ".join(f"{action.name} {action.args}" for action in parsed.actions)
    fault = parsed.fault.partition(". Call a tool")[0]
    thought = f"{parsed.text[:8]!r}…{parsed.text[-8:]!r}" if parsed.text and not fault else ""
    told = (calls, fault, thought, ", ".join(parsed.repairs[1:]))
    return "answer" if parsed.answer is not None else "; ".join(filter(None, told))


def beside() -> Iterator[str]:
    """A call in some shapes, with words ahead of it and behind it: which come to the same."""
    codec, spec = Native(), prompt_spec()
    for what, call in MADE.items():
        for shape, put in SHAPES.items():
            outcomes: dict[str, list[str]] = {}
            for before, ahead in enumerate(AHEAD):
                for after, behind in enumerate(BEHIND):
                    text = f"{ahead}{put(call)}{behind}"
                    outcome = _outcome(codec.parse(spec, Reply(text)))
                    outcomes.setdefault(outcome, []).append(f"{before}{after}")
            yield f"\n=== {what}, {shape}"
            yield from (f"{' '.join(places)}: {outcome}" for outcome, places in outcomes.items())


def beside_native() -> Iterator[str]:
    """The same beside a call of the provider's own: whether the words stay, and which."""
    codec, spec = Native(), prompt_spec()
    own = (
        RawCall(name="search", arguments='{"query": "a"}', id="c"),
        RawCall(name="delete", arguments='{"path": "a"}', id="d"),
    )
    for what, call in MADE.items():
        outcomes: dict[str, list[str]] = {}
        for number, put in enumerate(SHAPES.values()):
            for before, ahead in enumerate(AHEAD[:3]):
                for after, behind in enumerate(BEHIND[:5]):
                    reply = Reply(f"{ahead}{put(call)}{behind}", calls=own)
                    parsed = codec.parse(spec, reply)
                    told = parsed.fault[:20] or f"{parsed.text[:8]!r}…{parsed.text[-8:]!r}"
                    told += f" {len(parsed.actions)} {', '.join(parsed.repairs)}"
                    outcomes.setdefault(told, []).append(f"{number}{before}{after}")
        yield f"\n=== {what}"
        yield from (f"{' '.join(places)}: {outcome}" for outcome, places in outcomes.items())


def traces(texts: Sequence[str], spec: PromptSpec) -> Iterator[str]:
    """Markup that names a tool, and prose that does, at every third of its signs."""
    for text in texts:
        yield "".join(kind_of(spec, text[:at]) for at in (*range(2, len(text), 3), len(text)))
