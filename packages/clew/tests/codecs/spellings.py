"""Calls as the families of models write them into the text of a reply.

The forms are those of public chat templates and of the parsers that servers have for them (vLLM,
llama.cpp, SGLang); the calls in them are made up. `SEEN` was there while the reader was written;
`UNSEEN` was written before it and first read after.
"""

from typing import Any

ADA: dict[str, Any] = {"query": "Ada Lovelace"}
TWO: dict[str, Any] = {"query": "Ada", "limit": 3}
MOVE: dict[str, Any] = {"source": "a b", "target": "c"}

ONE = '{"name": "search", "arguments": {"query": "Ada Lovelace"}}'
MOVED = '{"name": "move", "arguments": {"source": "a b", "target": "c"}}'

SEEN: dict[str, tuple[str, str, dict[str, Any]]] = {
    "fenced json": (f"```json\n{ONE}\n```", "search", ADA),
    "bare object": (ONE, "search", ADA),
    "parameters": ('{"name": "search", "parameters": {"query": "Ada Lovelace"}}', "search", ADA),
    "tool and args": ('{"tool": "search", "args": {"query": "Ada Lovelace"}}', "search", ADA),
    "tool_call fence": (f"```tool_call\n{ONE}\n```", "search", ADA),
    "Hermes": (f"<tool_call>\n{ONE}\n</tool_call>", "search", ADA),
    "Hermes, never closed": (f"<tool_call>\n{ONE}", "search", ADA),
    "Mistral": (f"[TOOL_CALLS][{ONE}]", "search", ADA),
    "Mistral, new": ('[TOOL_CALLS]search[ARGS]{"query": "Ada Lovelace"}', "search", ADA),
    "Functionary": ('<function=search>{"query": "Ada Lovelace"}</function>', "search", ADA),
    "Qwen coder": (
        ("<tool_call>\n<function=search>\n<parameter=query>\nAda Lovelace\n</parameter>\n"
        "</function>\n</tool_call>"),
        "search",
        ADA,
    ),
    "Llama": ('<|python_tag|>{"name": "search", "parameters": {"query": "Ada Lovelace"}}<|eom_id|>',
              "search", ADA),
    "Claude": (
        ('<function_calls>\n<invoke name="search">\n<parameter name="query">Ada Lovelace'
        "</parameter>\n</invoke>\n</function_calls>"),
        "search",
        ADA,
    ),
    "ReAct": ('Action: search\nAction Input: {"query": "Ada Lovelace"}', "search", ADA),
    "ReAct, whole": (
        ('Thought: I look her up.\nAction: search\nAction Input: {"query": "Ada Lovelace"}\n'
        "Observation: She was born in London.\nThought: I know.\nFinal Answer: London"),
        "search",
        ADA,
    ),
    "Llama, Pythonic": ('[search(query="Ada Lovelace")]', "search", ADA),
    "Llama 4": ('<|python_start|>[search(query="Ada Lovelace")]<|python_end|>', "search", ADA),
    "a number": ('[web_search(query="Ada", limit=3)]', "web_search", TWO),
    "doubled braces": (
        '{{"name": "search", "arguments": {{"query": "Ada Lovelace"}}}}', "search", ADA
    ),
    "doubled outside only": (
        '{{"name": "search", "arguments": {"query": "Ada Lovelace"}}}', "search", ADA
    ),
    "doubled in tags": (
        '<tool_call>\n{{"name": "search", "arguments": {"query": "Ada Lovelace"}}}\n</tool_call>',
        "search",
        ADA,
    ),
    "doubled in a text": (
        '{{"name": "search", "arguments": {"query": "{{a}} \\" {{"}}}',
        "search",
        {"query": '{{a}} " {{'},
    ),
    "a brace too many": (f"{ONE}}}", "search", ADA),
    "Qwen coder's tools": (f"<tools>\n{ONE}\n</tools>", "search", ADA),
    "arguments as text": (
        r'{"name": "search", "arguments": "{\"query\": \"Ada Lovelace\"}"}', "search", ADA
    ),
    "nothing needed": ('{"name": "now", "arguments": {}}', "now", {}),
    "DeepSeek": (
        ("<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>search\n```json\n"
        '{"query": "Ada Lovelace"}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>'),
        "search",
        ADA,
    ),
    "GLM": (
        ("<tool_call>search\n<arg_key>query</arg_key>\n<arg_value>Ada Lovelace</arg_value>\n"
        "</tool_call>"),
        "search",
        ADA,
    ),
}  # fmt: skip

UNSEEN: dict[str, tuple[str, str, dict[str, Any]]] = {
    "Kimi": (
        ("<|tool_calls_section_begin|><|tool_call_begin|>functions.search:0"
        '<|tool_call_argument_begin|>{"query": "Ada Lovelace"}<|tool_call_end|>'
        "<|tool_calls_section_end|>"),
        "search",
        ADA,
    ),
    "DeepSeek 3.1": (
        ('<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>web_search<｜tool▁sep｜>{"query": "Ada", '
        '"limit": 3}'
        "<｜tool▁call▁end｜><｜tool▁calls▁end｜><｜end▁of▁sentence｜>"),
        "web_search",
        TWO,
    ),
    "DeepSeek DSML": (
        ('<｜DSML｜function_calls>\n<｜DSML｜invoke name="web_search">\n'
        '<｜DSML｜parameter name="query" string="true">Ada</｜DSML｜parameter>\n'
        '<｜DSML｜parameter name="limit" string="false">3'
        "</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜function_calls>"),
        "web_search",
        TWO,
    ),
    "Granite": (f"<|tool_call|>[{ONE}]", "search", ADA),
    "InternLM": (
        ('<|action_start|><|plugin|>\n{"name": "search", "parameters": {"query": "Ada Lovelace"}}'
        "<|action_end|>"),
        "search",
        ADA,
    ),
    "Jamba": (f"<tool_calls>[\n    {ONE}\n]</tool_calls>", "search", ADA),
    "MiniMax M2": (
        ('<minimax:tool_call>\n<invoke name="move">\n<parameter name="source">a b</parameter>\n'
        '<parameter name="target">c</parameter>\n</invoke>\n</minimax:tool_call>'),
        "move",
        MOVE,
    ),
    "Seed": (
        ("<seed:tool_call>\n<function=move>\n<parameter=source>a b</parameter>\n"
        "<parameter=target>c</parameter>\n</function>\n</seed:tool_call>"),
        "move",
        MOVE,
    ),
    "Phi": (f"functools[{ONE}]", "search", ADA),
    "Command R": (
        ('<|START_ACTION|>[{"tool_call_id": "0", "tool_name": "search", "parameters": '
        '{"query": "Ada Lovelace"}}]<|END_ACTION|>'),
        "search",
        ADA,
    ),
    "Command R, old": (
        'Action: ```json\n[{"tool_name": "search", "parameters": {"query": "Ada Lovelace"}}]\n```',
        "search",
        ADA,
    ),
    "Nemotron": (f"<TOOLCALL>[{ONE}]</TOOLCALL>", "search", ADA),
    "gpt-oss": (
        ("<|channel|>commentary to=functions.search <|constrain|>json<|message|>"
        '{"query": "Ada Lovelace"}<|call|>'),
        "search",
        ADA,
    ),
    "LFM2": ('<|tool_call_start|>[search(query="Ada Lovelace")]<|tool_call_end|>', "search", ADA),
    "Olmo": ('<function_calls>\nsearch(query="Ada Lovelace")\n</function_calls>', "search", ADA),
    "Gemini": (
        '```tool_code\nprint(default_api.web_search(query="Ada", limit=3))\n```', "web_search", TWO
    ),
    "FunctionGemma": (
        "<start_function_call>call:search{query:<escape>Ada Lovelace<escape>}<end_function_call>",
        "search",
        ADA,
    ),
    "Apertus": ('<|tools_prefix|>[{"search": {"query": "Ada Lovelace"}}]<|tools_suffix|>', "search",
                ADA),
    "OpenAI's own": (
        ('{"tool_calls": [{"id": "call_1", "type": "function", "function": {"name": "search", '
        r'"arguments": "{\"query\": \"Ada Lovelace\"}"}}]}'),
        "search",
        ADA,
    ),
    "OpenAI's old": (
        r'{"function_call": {"name": "search", "arguments": "{\"query\": \"Ada Lovelace\"}"}}',
        "search",
        ADA,
    ),
    "Llama with a type": (
        '{"type": "function", "name": "web_search", "parameters": {"query": "Ada", "limit": 3}}',
        "web_search",
        TWO,
    ),
    "LangChain": (
        '```json\n{\n  "action": "search",\n  "action_input": {"query": "Ada Lovelace"}\n}\n```',
        "search",
        ADA,
    ),
    "Functionary 3.2": ('>>>search\n{"query": "Ada Lovelace"}', "search", ADA),
    "Claude, old": (
        ("<function_calls>\n<invoke>\n<tool_name>search</tool_name>\n<parameters>\n"
        "<query>Ada Lovelace</query>\n</parameters>\n</invoke>\n</function_calls>"),
        "search",
        ADA,
    ),
    "Cline": ("<move>\n<source>a b</source>\n<target>c</target>\n</move>", "move", MOVE),
    "Claude's block": (
        ('{"type": "tool_use", "id": "t1", "name": "move", "input": {"source": "a b", '
        '"target": "c"}}'),
        "move",
        MOVE,
    ),
    "a fence with no word": (f"```\n{ONE}\n```\n", "search", ADA),
    "tags in a fence": (f"```xml\n<tool_call>\n{ONE}\n</tool_call>\n```", "search", ADA),
    "a call as in a program": ('search(query="Ada Lovelace")', "search", ADA),
    "arguments beside the name": ('{"tool": "search", "query": "Ada Lovelace"}', "search", ADA),
    "paper": ("Thought 1: I look.\nAction 1: search[Ada Lovelace]", "search", ADA),
    "Llama with two tags": (
        ('<|start_header_id|>assistant<|end_header_id|>\n\n<|python_tag|>{"name": "now", '
        '"parameters": {}}<|eot_id|>'),
        "now",
        {},
    ),
}  # fmt: skip

BESIDE: dict[str, str] = {
    "announced": f"I look her up.\n```json\n{ONE}\n```",
    "announced, bare": f"I look her up.\n\n{ONE}",
    "with an invented result": f"{ONE}\n\nThe search says that she was born in London.",
    "fenced, then invented": f"```json\n{ONE}\n```\nResult: she was born in London.",
}
"""Calls beside other words, of a tool that only reads: the call is made, and no result invented."""

FAULTS: dict[str, str] = {
    "unknown tool": '{"name": "population", "arguments": {"city": "Vienna"}}',
    "unknown tool in tags": '<tool_call>{"name": "pop", "arguments": {"city": "x"}}</tool_call>',
    "unknown function": "<function=population>{}</function>",
    "unknown, ReAct": 'Action: population\nAction Input: {"city": "Vienna"}',
    "missing argument": '```json\n{"name": "search", "arguments": {}}\n```',
    "another argument": '[TOOL_CALLS][{"name": "search", "arguments": {"q": "Ada"}}]',
    "another type": '{"name": "web_search", "arguments": {"query": "Ada", "limit": "three"}}',
    "cut": '<tool_call>{"name": "search", "arguments": {"query": "Ada',
    "cut fence": '```json\n{"name": "search", "arguments": {"query": "Ada',
    "no JSON": "<tool_call>{not json}</tool_call>",
    "no name": '<tool_call>{"arguments": {"query": "Ada"}}</tool_call>',
    "given twice": '{"name": "search", "arguments": {"query": "boss", "query": "evil"}}',
    "announced": f"I will move it.\n```json\n{MOVED}\n```",
    "announced, bare": f"Let me move it first.\n\n{MOVED}",
    "with an invented result": f"{MOVED}\n\nIt is moved, as the tool says.",
    "fenced, then invented": f"```json\n{MOVED}\n```\nResult: it is moved.",
    "announced, one of them unsafe": f"I search, then move.\n\n[{ONE}, {MOVED}]",
    "one known, one not": f'[{ONE}, {{"name": "pop", "arguments": {{"city": "x"}}}}]',
    "words around a tag": (
        f"Qwen calls it by <tool_call>{ONE}</tool_call> and then waits for what comes back."
    ),
}

TALK: dict[str, str] = {
    "an example within prose": (
        "Function calling works like this. The model replies with an object such as\n\n"
        f"```json\n{ONE}\n```\n\nand the program that asked runs the function and sends back what "
        "it returned."
    ),
    "an example at the end": (
        "The tools of this assistant are called with a JSON object that names the tool and its "
        "arguments. Each argument is checked against the schema of the tool before anything is "
        f"done, and what does not fit is refused. For example:\n\n```json\n{ONE}\n```"
    ),
    "tags in a sentence": (
        "Qwen writes its calls as `<tool_call>{...}</tool_call>`, and Mistral begins with "
        "`[TOOL_CALLS]`."
    ),
    "a whole tag in inline code": f"Write `<tool_call>{ONE}</tool_call>` to call it, as Qwen does.",
    "ReAct explained": (
        "In ReAct a model writes lines such as\n\n```\nThought: I look her up.\nAction: search\n"
        'Action Input: {"query": "Ada"}\n```\n\nand then waits for an observation.'
    ),
    "a list of actions": "Action: call the bank.\nAction: write to the landlord.\nThat is all.",
    "JSON that is data": '{"name": "Ada Lovelace", "born": 1815}',
    "JSON with a list": '{"name": "Debate", "arguments": ["for", "against"]}',
    "fenced data": '```json\n[{"name": "search", "stars": 4}, {"name": "other", "stars": 5}]\n```',
    "a program": '```python\nprint("hello")\n```',
    "a line of a program": 'print(len("hello"))',
    "a list": "[1, 2, 3]",
    "a citation": "She was born in London [wiki:ada].",
    "HTML": '<p>She was <b>born</b> in <a href="x">London</a>.</p>',
    "brackets": "[London] is where she was born (see search).",
    "a word in angle brackets": "Use <name> as a placeholder, and <search> for what to look for.",
    "an address": "ada@example.org <search>",
    "a name with a colon": "search: she was born in London.",
    "a sentence that ends in a call": "The call was search(query).",
}
