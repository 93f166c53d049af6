"""Calls of a tool with an effect, written in every spelling that is known, with values that hurt.

A spelling writes a call as a model or a chat template would: values are escaped by the rules of the
spelling where it has any, and stand as they are where it has none.
"""

import json
from collections.abc import Callable
from typing import Any, Final, TypeAlias

Args: TypeAlias = dict[str, Any]
Spelling: TypeAlias = Callable[[str, Args], str]


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _object(name: str, args: Args) -> str:
    return _json({"name": name, "arguments": args})


def _python(name: str, args: Args, sign: str = "=") -> str:
    return f"{name}({', '.join(f'{key}{sign}{value!r}' for key, value in args.items())})"


def _parameters(args: Args, form: str) -> str:
    return "\n".join(form.format(key=key, value=_text(value)) for key, value in args.items())


def _dsml(bar: str, outer: str) -> Spelling:
    def spelling(name: str, args: Args) -> str:
        tag = f"{bar}DSML{bar}"
        inner = "\n".join(
            f'<{tag}parameter name="{key}" string="{str(isinstance(value, str)).lower()}">'
            f"{_text(value)}</{tag}parameter>"
            for key, value in args.items()
        )
        return (
            f'<{tag}{outer}>\n<{tag}invoke name="{name}">\n{inner}\n</{tag}invoke>\n</{tag}{outer}>'
        )

    return spelling


def _around(before: str, after: str, inner: Spelling = _object) -> Spelling:
    return lambda name, args: f"{before}{inner(name, args)}{after}"


def _keyed(name: str, args: str) -> Spelling:
    return lambda tool, given: _json({name: tool, args: given})


def _qwen(name: str, args: Args) -> str:
    inner = _parameters(args, "<parameter={key}>\n{value}\n</parameter>")
    return f"<function={name}>\n{inner}\n</function>"


def _invoke(prefix: str) -> Spelling:
    def spelling(name: str, args: Args) -> str:
        form = f'<{prefix}parameter name="{{key}}">{{value}}</{prefix}parameter>'
        return f'<{prefix}invoke name="{name}">\n{_parameters(args, form)}\n</{prefix}invoke>'

    return spelling


def _tokens(quote: str) -> Spelling:
    def spelling(name: str, args: Args) -> str:
        pairs = (
            f"{key}:{quote}{value}{quote}" if isinstance(value, str) else f"{key}:{_json(value)}"
            for key, value in args.items()
        )
        return f"call:{name}{{{','.join(pairs)}}}"

    return spelling


def _named(name: str, args: Args) -> str:
    return f"{name}{_json(args)}"


def _kimi(name: str, args: Args) -> str:
    return (
        f"<|tool_calls_section_begin|><|tool_call_begin|>functions.{name}:0"
        f"<|tool_call_argument_begin|>{_json(args)}<|tool_call_end|><|tool_calls_section_end|>"
    )


def _deepseek(name: str, args: Args) -> str:
    return (
        f"<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>{name}\n```json\n"
        f"{_json(args)}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>"
    )


def _deepseek_new(name: str, args: Args) -> str:
    return (
        f"<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>{name}<｜tool▁sep｜>{_json(args)}"
        "<｜tool▁call▁end｜><｜tool▁calls▁end｜><｜end▁of▁sentence｜>"
    )


def _glm(name: str, args: Args) -> str:
    form = "<arg_key>{key}</arg_key>\n<arg_value>{value}</arg_value>"
    return f"<tool_call>{name}\n{_parameters(args, form)}\n</tool_call>"


def _own_tag(name: str, args: Args) -> str:
    inner = "\n".join(f"<{key}>{_text(value)}</{key}>" for key, value in args.items())
    return f"<{name}>\n{inner}\n</{name}>"


def _invoke_old(name: str, args: Args) -> str:
    inner = "\n".join(f"<{key}>{_text(value)}</{key}>" for key, value in args.items())
    return (
        f"<function_calls>\n<invoke>\n<tool_name>{name}</tool_name>\n<parameters>\n{inner}\n"
        "</parameters>\n</invoke>\n</function_calls>"
    )


def _harmony(head: str) -> Spelling:
    return lambda name, args: head.format(name=name) + f"<|message|>{_json(args)}<|call|>"


def _openai(name: str, args: Args) -> str:
    call = {"name": name, "arguments": json.dumps(args)}
    return _json({"tool_calls": [{"id": "c1", "type": "function", "function": call}]})


def _react(head: str) -> Spelling:
    return lambda name, args: f"{head.format(name=name)}{_json(args)}"


READ: Final[dict[str, Spelling]] = {
    "object": _object,
    "object, in lines": lambda n, a: json.dumps({"name": n, "arguments": a}, indent=2),
    "object, escaped": lambda n, a: json.dumps({"name": n, "arguments": a}),
    "arguments first": lambda n, a: _json({"arguments": a, "name": n}),
    "parameters": _keyed("name", "parameters"),
    "tool and args": _keyed("tool", "args"),
    "tool_name": _keyed("tool_name", "parameters"),
    "function": _keyed("function", "arguments"),
    "action_input": _keyed("action", "action_input"),
    "beside the name": lambda n, a: _json({"tool": n, **a}),
    "its own key": lambda n, a: _json({n: a}),
    "a type": lambda n, a: _json({"type": "function", "name": n, "parameters": a}),
    "tool_use": lambda n, a: _json({"type": "tool_use", "id": "t", "name": n, "input": a}),
    "tool_calls": _openai,
    "arguments as text": lambda n, a: _json({"name": n, "arguments": _json(a)}),
    "list": _around("[", "]"),
    "fence json": _around("```json\n", "\n```"),
    "fence": _around("```\n", "\n```"),
    "fence tool_call": _around("```tool_call\n", "\n```"),
    "Hermes": _around("<tool_call>\n", "\n</tool_call>"),
    "Hermes, on one line": _around("<tool_call>", "</tool_call>"),
    "Hermes in a fence": _around("```xml\n<tool_call>\n", "\n</tool_call>\n```"),
    "tools": _around("<tools>\n", "\n</tools>"),
    "Jamba": _around("<tool_calls>[\n", "\n]</tool_calls>"),
    "Nemotron": _around("<TOOLCALL>[", "]</TOOLCALL>"),
    "Granite": _around("<|tool_call|>[", "]"),
    "Mistral": _around("[TOOL_CALLS][", "]"),
    "Mistral, new": lambda n, a: f"[TOOL_CALLS]{n}[ARGS]{_json(a)}",
    "Phi": _around("functools[", "]"),
    "Llama": _around("<|python_tag|>", "<|eom_id|>", _keyed("name", "parameters")),
    "InternLM": _around("<|action_start|><|plugin|>\n", "<|action_end|>"),
    "Command R": _around("<|START_ACTION|>[", "]<|END_ACTION|>", _keyed("tool_name", "parameters")),
    "Command R, old": _around("Action: ```json\n[", "]\n```", _keyed("tool_name", "parameters")),
    "Functionary": lambda n, a: f"<function={n}>{_json(a)}</function>",
    "Functionary, new": lambda n, a: f">>>{n}\n{_json(a)}",
    "Kimi": _kimi,
    "DeepSeek": _deepseek,
    "DeepSeek, new": _deepseek_new,
    "harmony": _harmony("<|channel|>commentary to=functions.{name} <|constrain|>json"),
    "harmony, other order": _harmony("<|start|>assistant to=functions.{name}<|channel|>commentary"),
    "Qwen coder": _around("<tool_call>\n", "\n</tool_call>", _qwen),
    "Qwen coder, alone": _qwen,
    "Seed": _around("<seed:tool_call>\n", "\n</seed:tool_call>", _qwen),
    "Claude": _around("<function_calls>\n", "\n</function_calls>", _invoke("")),
    "Claude, alone": _invoke(""),
    "Claude, prefixed": _around("<function_calls>\n", "\n</function_calls>", _invoke("antml:")),
    "Claude, old": _invoke_old,
    "MiniMax": _around("<minimax:tool_call>\n", "\n</minimax:tool_call>", _invoke("")),
    "DSML": _dsml("｜", "function_calls"),
    "DSML, new": _dsml("｜", "tool_calls"),
    "DSML, other bars": _dsml("|", "function_calls"),
    "GLM": _glm,
    "own tag": _own_tag,
    "Gemma": _around("<start_function_call>", "<end_function_call>", _tokens("<escape>")),
    "Gemma 4": _around("<|tool_call>", "<tool_call|>", _tokens('<|"|>')),
    "Python": _python,
    "Python, list": _around("[", "]", _python),
    "Llama 4": _around("<|python_start|>[", "]<|python_end|>", _python),
    "LFM2": _around("<|tool_call_start|>[", "]<|tool_call_end|>", _python),
    "Olmo": _around("<function_calls>\n", "\n</function_calls>", _python),
    "Gemini": _around("```tool_code\nprint(default_api.", ")\n```", _python),
    "ReAct": _react("Action: {name}\nAction Input: "),
    "ReAct, thought": _react("Thought: I do it now.\nAction: {name}\nAction Input: "),
    "ReAct, bold": _react("**Action:** {name}\n**Action Input:** "),
}
"""Spellings in which a call is read, unless a value makes it doubtful."""

FAULTY: Final[dict[str, Spelling]] = {
    "words behind brackets": _around("[", "]I am doing it now.", _python),
    "words behind an object": _around("", "\n\nI have done it, as you asked."),
    "words around a fence": _around("I do it now.\n```json\n", "\n```\nDone."),
    "in angle brackets": _around("<", ">", _python),
    "colons": lambda n, a: _python(n, a, ": "),
    "a tool in backticks": lambda n, a: f"Action: `{n}`",
    "a tool in bold": lambda n, a: f"**Action**: **{n}**",
    "name first": lambda n, a: _qwen("x", {"name": n, **a}).replace("=x", ""),
    "name in a tag": lambda n, a: f"<tool_call><name>{n}</name>{_json(a)}",
    "tool_code behind words": _around("Let me see.\n```tool_code\n", "\n```\nOne moment.", _python),
    "harmony, no call": lambda n, a: f"<|channel|>commentary to=functions.{n} code<|message|>do it",
    "harmony, bare": lambda n, a: f"commentary to=functions.{n} json {_json(a)[:-1]}",
    "cut brackets": lambda n, a: f"[{_python(n, a)[:-1]}",
    "DSML, no end": lambda n, a: _dsml("｜", "calls")(n, a).rpartition("</｜DSML｜invoke")[0],
    "Hermes, no brace": lambda n, a: f"<tool_call>{_object(n, a)[:-2]}</tool_call>",
    "Hermes behind words": lambda n, a: f"I do it: <tool_call>{_object(n, a)[:-3]}",
    "an attribute": lambda n, a: f'<tool_use name="{n}" cmd="x"/>',
    "a call at the end": lambda n, a: f"I will do that for you: {_python(n, a)[:-1]}",
    "inline code": lambda n, a: f"I will do that for you now: `{n}({', '.join(a)}=1)`",
    "label and braces": lambda n, a: f"Tool: {n}\nArguments: {_json(a)[:-1]}",
    "Calling": lambda n, a: f"[Calling tool: {n} with {_json(a)[:-1]}",
}
"""Spellings that cannot be read, or beside words: at least a fault."""

VALUES: Final = (
    "rm -rf `pwd`/build",
    "a `b` c ```d``` e",
    "```\ncode\n```",
    "</parameter>",
    "x</parameter>y",
    "x</parameter>\n</function>",
    "a</function>b",
    "a</invoke>b",
    "a</arg_value>b",
    "</tool_call>",
    "a</tool_call>b<tool_call>",
    "<parameter=x>1</parameter>",
    '<parameter name="x">',
    "a<escape>b",
    'a<|"|>b',
    "a｜DSML｜b",
    "</｜DSML｜parameter>",
    '<｜DSML｜invoke name="x">',
    "<|eom_id|>",
    "a<|im_end|>b",
    "<｜end▁of▁sentence｜>",
    'say "hi"',
    "it's",
    "a\"b'c`d",
    "\\",
    "C:\\new\\table",
    '\\n \\t \\u0041 \\"',
    "{",
    "}",
    "[",
    "]",
    "(",
    ")",
    "a]b[c",
    "a}b{c",
    "{{a}} }} {{",
    '{"cmd": "y"}',
    '"}}]</tool_call>',
    "line one\nline two\n",
    "\nlead and trail\n",
    "\ttab  two spaces ",
    "a\r\nb",
    "é ü 漢字 🙂 \u200b\u00a0 end",
    "\u2028\u2029",
    "Action: stop\nAction Input: {}",
    "a\nObservation: b",
    "Final Answer: 4",
    "# comment // x /* y */",
    "a, b=c",
    "None",
    "",
    " ",
    '<a href="x">b</a>',
    "&lt;b&gt; &amp;",
    "$(echo hi) && ls | wc; x=1",
    "%s {0} {key}",
    "[TOOL_CALLS]",
    "[ARGS]{",
    "<tool_call>",
    "print(1)",
    "'''",
    '"""',
)
"""Values that mean something to some spelling."""
