"""Replies at the edges of what formats read: short, odd, nearly right. What is made of each stands
in files of `told`: the thought, the calls, the answer, the fault with its words, what was mended.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from clew.core.codec import Codec, Parsed, PromptSpec
from clew.core.codes import TOO_LONG
from clew.core.contents import RawCall, Reply

_FORM: Final = " The right form is, for example:\n"

LABELLED: Final = (
    "",
    "  \n",
    "I wonder.",
    "Thought: I wonder.",
    "Thought: I wonder.\nObservation: It is 4.\nAction: search",
    "Observation: It is 4.\nAction: search\nAction Input: {}",
    "Observation: It is 4.\nFinal Answer: 4",
    'Action: search\nAction Input: {"query": "a"}',
    'action: SEARCH\naction input: {"query": "a"}',
    '**Action:** `search`\n**Action Input:** {"query": "a"}',
    'Action: Web Search\nAction Input: {"query": "a", "limit": 2}',
    "Action: search\nAction Input: a",
    'Action: search\nAction Input: "a"',
    'Action: search\nAction Input: "a',
    'Action: search\nAction Input: ```json\n{"query": "a"}\n```',
    "Action: search\nAction Input: {'query': 'a',}",
    'Action: search\nAction Input: {"query": "a"} and more',
    'Action: search\nAction Input: {"query": ',
    'Action: search\nAction Input: {"other": 1}',
    'Action: search\n{"query": "a"}',
    'Action: search\n```json\n{"query": "a"}\n```',
    'Action: search\nand more\nAction Input: {"query": "a"}',
    'Action: search(a)\nAction Input: {"query": "a"}',
    "Action: search[a]",
    'Action: search("a")',
    'Action: search(query="a")',
    "Action: search[a] and more",
    "Action: search[a",
    "Action: search",
    "Action: search\nAction Input: None",
    "Action: now",
    "Action: now\nAction Input:",
    "Action: now\nAction Input: none",
    "Action: now\nAction Input: {}",
    "Action: now\nAction Input: a",
    "Action: web_search\nAction Input: a",
    "Action: tune\nAction Input: a",
    "Action: tune\nAction Input: {bad",
    'Action: population\nAction Input: {"city": "a"}',
    "Action: population\nAction Input: a",
    "Action: the population of Rome\nAction Input: a",
    "Action: ```\nsearch\n```",
    "Action: Final Answer\nAction Input: 4",
    'Action: finish\nAction Input: {"answer": "4"}',
    "Action: None\nFinal Answer: 4",
    "Action: N/A\nThought: so\nAction: now",
    'Action: move\nAction Input: {"source": "a", "target": "b"}',
    'Action: move\nAction Input: ```json\n{"source": "a", "target": "b"}\n```',
    'Action: move\nAction Input: ```json\n{"source": "a", "target": "b"}',
    'Action: move\nAction Input: {"source": "a", "target": "b"}\n```',
    'Action: move\nAction Input: {"source": "a", "target": "b"} and more',
    'Action: move (now)\nAction Input: {"source": "a", "target": "b"}',
    'Action: move\nnow\nAction Input: {"source": "a", "target": "b"}',
    'Action: move\nAction Input: {"source": "a", "target": "\\ud83d"}',
    'Action: move\nAction Input: {"source": "a", "target": ',
    "Action: move\nAction Input: a to b",
    "Action: move\nAction Input:",
    "Action: delete\nAction Input: a",
    "Action: delete[a]",
    "Action: delete[a] b",
    'Action: delete["a"]',
    'Action: move\nAction Input: {"source": "a", "target": "b"}\nThought: no',
    'Action: move\nAction Input: {"source": "a", "target": "b"}\nAction: now',
    'Action: search\nAction Input: {"query": "a"}\nThought: no',
    'Action: search\nAction Input: {"query": "a"}\nAction: now',
    'Action: search\nAction Input: {"query": "a"}\nAction Input: {}',
    'Action: search\nAction Input: {"query": "a"}\nFinal Answer: 4',
    'Action: search\nAction Input: {"query": "a"}\nObservation: b',
    'Action: search\nAction Input: {"query": "a"}\nQuestion: b',
    'Action Input: {"query": "a"}',
    'Action Input: {"query": "a"}\nAction: search',
    "Final Answer: 4",
    "Final Answer:",
    "Final Answer: 4\nThought: so",
    "Final Answer: 4\nAction: search[a]",
    "Final Answer: 4\nAction: think",
    "Final Answer: 4\nAction: none\nAction Input: {}",
    "Final Answer: 4\nAction: search\nAction Input: {}",
    "Final Answer: 4\nObservation: b",
    "Final: 4",
    "Conclusion: 4",
    "Thought: a\nThought: b\nFinal Answer: ```\n4\n```",
    '<parameter=x>\nAction: search\nAction Input: {"query": "a"}',
    '<think>Action: delete[a]</think>\nAction: search\nAction Input: {"query": "a"}',
    "<think>Action: delete[a]",
    "roll\nAction: roll\nAction Input: 4",
    "Action: roll\nAction Input: four",
    "Action: switch\nAction Input: true",
    'Action: plot\nAction Input: {"x": 1}',
    'Action: plot\nAction Input: {"point": {"x": 1}}',
    "Action: total\nAction Input: [1, 2]",
    "Action: total\nAction Input: [1, 2",
    'Action: keep\nAction Input: {"a": 1}',
)

PAPER: Final = (
    "",
    "I wonder.",
    "Thought 1: I look.\nAction 1: search[a]",
    "Thought 1: I look.\nAction 1: search[a]\nObservation 1: b",
    "Thought 1: I look.\nObservation 1: b",
    "Action 1: search[a]\nAction 2: now[]",
    "Action 1: delete[a]\nAction 2: now[]",
    "Action 1: delete[a]\nThought 2: no",
    "Action: Search[a]",
    "Action: search[[a]]",
    "Action: search[a]]",
    "Action: search[[a]",
    "Action: search[a b",
    "Action: search[a\nb",
    "Action: delete[a",
    "Action: delete[a\nb",
    "Action: delete[a] b",
    "Action: delete[a].",
    "Action: search[a] now[]",
    "Action: search[a] and so on",
    "Action: search[a].",
    "Action: search(a)",
    "Action: search('a')",
    'Action: search("a" b)',
    "Action: search(query='a')",
    "Action: search[query='a']",
    "Action: search[query: 'a']",
    "Action: search[query == a]",
    "Action: **search[a]**",
    "Action: `search[a]`",
    "Action: [a]",
    "Action: search",
    "Action: search a",
    "Action: ```\nsearch[a]\n```",
    "Action: now[]",
    "Action: now[a]",
    "Action: search[]",
    "Action: web_search[a]",
    'Action: web_search[{"query": "a", "limit": 2}]',
    'Action: web_search[{"query": "a", "limit": 2}',
    'Action: web_search[{"query": "a", "limit": }]',
    'Action: web_search({"query": "a"}) b',
    'Action: move[{"source": "a", "target": "b"}]',
    'Action: move[{"source": "a", "target": "b"}',
    'Action: move[{"source": "a", "target": "b"}] c',
    "Action: move[{'source': 'a', 'target': 'b',}]",
    'Action: move[{"source": "a", "target": "\\ud83d"}]',
    'Action: move[{"source": "a" "b"}]',
    'Action: delete["a"]',
    "Action: delete['a']",
    "Action: delete[{a}]",
    'Action: delete("a")',
    'Action: search[{"a": 1}]',
    'Action: plot[{"x": 1}]',
    'Action: plot[{"point": {"x": 1}}]',
    "Action: roll[4]",
    "Action: roll[four]",
    "Action: roll[null]",
    "Action: switch[true]",
    "Action: total[[1, 2]]",
    "Action: total[1, 2]",
    "Action: level[1]",
    'Action: keep[{"a": 1}]',
    "Action: tune[a]",
    "Action: tune[]",
    "Action: population[Rome]",
    "Action: population[]",
    "Action: the town[Rome]",
    "Action: secret[a]",
    "Action: Finish[4]",
    "Action: finish[4]",
    "Action: FINISH[4]",
    "Action: Finish[]",
    "Action: Finish[a [b] c]",
    "Action: None\nThought: so",
    "I look.\nsearch[a]",
    "I look.\nsearch[a]\nnow[]",
    "search[a]\nI look.",
    "I look.\nFinish[4]",
    "I look.\nfoo[a]",
    "<think>Action: delete[a]</think>Action: search[a]",
    "</parameter>\nAction: search[a]",
)

JSON: Final = (
    "",
    "I wonder.",
    "Observation: a",
    "I wonder.\nObservation: a",
    '{"thought": "I look.", "action": "search", "args": {"query": "a"}}',
    'I look.\n{"action": "search", "args": {"query": "a"}}',
    'I look: {"action": "search", "args": {"query": "a"}}',
    '```json\n{"action": "search", "args": {"query": "a"}}\n```',
    'So.\n```json\n{"action": "search", "args": {"query": "a"}}\n```',
    '``` {"action": "search", "args": {"query": "a"}}```',
    '[{"action": "search", "args": {"query": "a"}}]',
    '[{"action": "search", "args": {"query": "a"}}, {"action": "now"}]',
    '{"action": "search", "args": {"query": "a"}}\n{"action": "now"}',
    '{"action": "search", "args": {"query": "a"}} and more',
    '{"action": "search", "args": {"query": "a"}}\nObservation: b',
    '{"action": "search", "args": {"query": "a"}}\nQuestion: b',
    '{"action": "search", "args": {"query": "a"}}}',
    '{"action": "search", "args": {"query": "a"}, "answer": 4}',
    '{"action": "search", "args": {"query": "a"}, "why": 4}',
    '{"action": "search", "query": "a"}',
    '{"action": "search", "query": "a", "why": 4}',
    '{"action": "search", "args": "a"}',
    '{"action": "search", "args": "{\\"query\\": \\"a\\"}"}',
    '{"action": "search", "args": "{\'query\': \'a\'}"}',
    '{"action": "search", "args": ["a"]}',
    '{"action": "web_search", "args": ["a"]}',
    '{"action": "tune", "args": 4}',
    '{"action": "tune", "args": "a"}',
    '{"action": "search", "args": null}',
    '{"action": "search", "args": "none"}',
    '{"action": "search", "args": ""}',
    '{"action": "now"}',
    '{"action": "now", "args": "a"}',
    '{"action": "search[a]"}',
    '{"action": "search(a)", "why": 1}',
    '{"action": "search[a]", "args": {"query": "b"}}',
    '{"action": "Search", "args": {"query": "a"}}',
    '{"tool": "search", "input": {"query": "a"}}',
    '{"name": "search", "arguments": {"query": "a"}}',
    '{"action": "search", "action_input": {"query": "a"}}',
    '{"action": "search", "parameters": {"query": "a"}}',
    '{"action": ["search"], "args": {}}',
    '{"action": 4, "args": {}}',
    '{"action": "the town", "args": {}}',
    '{"action": "population", "args": {"a": 1}}',
    '{"action": "population", "args": 4}',
    '{"action": "population", "args": "4"}',
    '{"action": "population"}',
    '{"thought": 4, "action": "now"}',
    '{"thought": null, "action": "now"}',
    '{"thought": {"a": 1}, "action": "now"}',
    'So.\n{"thought": " I look. ", "action": "now"}',
    '{"thought": "I know."}',
    '{"answer": "4"}',
    '{"final_answer": "4", "why": 1}',
    '{"action": null, "answer": "4"}',
    '{"action": "none", "answer": "4"}',
    '{"action": "none", "args": {}}',
    '{"action": "finish", "args": {"answer": "4"}}',
    '{"action": "finish", "args": "4"}',
    '{"action": "finish", "args": "none"}',
    '{"action": "finish", "args": 4}',
    '{"action": "finish", "answer": "4"}',
    '{"action": "Final Answer", "args": "4"}',
    '{"action": " answer ", "args": {"answer": "4"}}',
    '{"action": "final_answer", "answer": "4"}',
    '{"action": "move", "args": {"source": "a", "target": "b"}}',
    '[{"action": "move", "args": {"source": "a", "target": "b"}}',
    '[{"action": "move", "args": {"source": "a", "target": "b"}}]',
    '```json\n{"action": "move", "args": {"source": "a", "target": "b"}}',
    '```json\n{"action": "move", "args": {"source": "a", "target": "b"}}\n```',
    '<tool_call>\n{"action": "move", "args": {"source": "a", "target": "b"}}',
    '<tool_call>\n{"action": "move", "args": {"source": "a", "target": "b"}}\n</tool_call>',
    '{"action": "move", "args": {"source": "a", "target": "b"}}\n</tool_call>',
    '{"action": "move", "args": {"source": "a", "target": "\\ud83d"}}',
    '{"action": "search", "args": {"query": "\\ud83d"}}',
    '{"action": "search", "args": {"query": "a"',
    '{"action": "search", "args": {"query": "a',
    '{"action": "search", "args" {"query": "a"}}',
    '{"action": "search", "action": "now"}',
    "{'action': 'search', 'args': {'query': 'a',},} # so",
    "{action: 'now', args: None}",
    '{"action": "total", "args": [1, 2]}',
    '{"action": "roll", "args": 4}',
    '{"action": "plot", "args": {"x": 1}}',
    '<parameter=x>\n{"action": "now"}',
    '<think>{"action": "delete", "args": {"path": "a"}}</think>\n{"action": "now"}',
)

ANSWERS: Final = (
    "4",
    '"4"',
    '{"x": 1}',
    '{"x": 1, "y": 2}.',
    '```json\n{"x": 1}\n```',
    '```json\n{"x": 1}\n```.',
    f'{"w" * 239}\n```json\n{{"x": 1}}\n```',
    f'{"w" * 240}\n```json\n{{"x": 1}}\n```',
    '**{"x": 1}**',
    '`{"x": 1}`.',
    '{"x": 1}..',
    '{"x": 1, "x": 2}',
    '{"x": "\\ud83d"}',
    "[" * 70 + "]" * 70,
    "It is 1.",
    "",
    '{"name": "move", "arguments": {"source": "a"}}',
    "Final Answer: 4",
    'Final Answer: {"x": 1}',
    'Final Answer: ```json\n{"x": 1}\n```',
    'Final Answer: {"x": 1} so',
    'Final Answer: {"x": ',
    "Final Answer: [1",
    "Action: Finish[4]",
    'Action: Finish[{"x": 1}]',
    'Action: Finish[{"answer": {"x": 1}}]',
    '{"action": "finish", "args": {"answer": {"x": 1}}}',
    '{"action": "finish", "args": {"x": 1}}',
    '{"answer": {"x": 1}}',
)
"""Where an answer has a type."""

NATIVE: Final[Sequence[Reply]] = (
    Reply(
        "So.",
        calls=(
            RawCall(name="now", arguments=""),
            RawCall(name="now", arguments=None),
            RawCall(name="now", arguments="{}"),
        ),
    ),
    Reply(
        "",
        calls=(
            RawCall(name="search", arguments="[1]"),
            RawCall(name="search", arguments='{"a": 1, "a": 2}'),
        ),
    ),
    Reply(
        "",
        calls=(
            RawCall(name="search", arguments="{bad"),
            RawCall(name="search", arguments='{"query": "\\ud83d"}'),
        ),
    ),
    Reply("", calls=(RawCall(name="search", arguments="[" * 70 + "]" * 70),)),
    Reply(
        'A <tool_call>{"name": "now", "arguments": "{}"}</tool_call> b',
        calls=(RawCall(name="now", arguments="{}"),),
    ),
    Reply(
        'A <tool_call>{"name": "now", "parameters": {}}</tool_call> b',
        calls=(RawCall(name="search", arguments='{"query": "a"}'),),
    ),
    Reply('A <tool_call>{"name": }</tool_call> b', calls=(RawCall(name="now", arguments="{}"),)),
    Reply('now()\n{"name": "now"}', calls=(RawCall(name="now", arguments="{}"),)),
    Reply("delete(path='a')", calls=(RawCall(name="now", arguments="{}"),)),
    Reply("Such as `delete(path='a')`.", calls=(RawCall(name="now", arguments="{}"),)),
    Reply("Action: now", calls=(RawCall(name="now", arguments="{}"),)),
    Reply("Action: delete\nAction Input: a", calls=(RawCall(name="now", arguments="{}"),)),
    Reply(
        "Action: now\nAction Input: {}\nAction: now", calls=(RawCall(name="now", arguments="{}"),)
    ),
)

ENDED: Final = (
    ("length", ""),
    ("filter", ""),
    ("refusal", ""),
    ("cut", ""),
    ("cut", TOO_LONG),
    ("cut", "odd"),
)
"""Ends that are none of the model's."""


def told(text: str, parsed: Parsed) -> Iterator[str]:
    """What was made of a reply."""
    yield f"\n> {text!r}"
    if parsed.text:
        yield f"thought: {parsed.text!r}" if parsed.text != text else "thought: all of it"
    if parsed.answer is not None:
        yield f"answer: {parsed.answer!r}" if parsed.answer != text else "answer: all of it"
    for action in parsed.actions:
        fault = f" ({action.fault})" if action.fault else ""
        yield f"call: {action.name} {action.args}{fault}"
    if parsed.fault:
        yield f"fault: {parsed.fault}"
    if parsed.repairs:
        yield f"mended: {', '.join(parsed.repairs)}"


def read(codec: Codec, spec: PromptSpec, replies: Sequence[str | Reply]) -> Iterator[str]:
    """What a format makes of replies; what several faults end with stands once."""
    form = codec.parse(spec, Reply("")).fault.partition(_FORM)[2]
    yield f"The right form: {form}"
    for each in replies:
        reply = Reply(each) if isinstance(each, str) else each
        for line in told(reply.text, codec.parse(spec, reply)):
            yield line.replace(f"{_FORM}{form}", " (with the right form)") if form else line
        yield from (f"beside: {call.name} {call.arguments!r}" for call in reply.calls)


def cut(codec: Codec, spec: PromptSpec, text: str) -> str:
    """What a reply is after each of its characters, in runs: no calls are made of half a call."""
    runs: list[tuple[str, int]] = []
    for end in range(len(text) + 1):
        parsed = codec.parse(spec, Reply(text[:end]))
        names = ",".join(action.name for action in parsed.actions)
        kind = "fault" if parsed.fault else f"call {names}" if names else "answer"
        if runs and runs[-1][0] == kind:
            runs[-1] = kind, runs[-1][1] + 1
        else:
            runs.append((kind, 1))
    return ", ".join(f"{kind} {count}" for kind, count in runs)


def cuts(codec: Codec, spec: PromptSpec, replies: Mapping[str, str]) -> Iterator[str]:
    """The same of many replies, by their names."""
    for name, text in replies.items():
        yield f"{name}: {cut(codec, spec, text)}"
