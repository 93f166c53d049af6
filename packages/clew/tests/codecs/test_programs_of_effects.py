"""A program has the effects of its tools: its call is held to the same strictness as theirs."""

import pytest

from clew.codecs import by_name
from clew.core.codes import Effect
from clew.core.contents import Reply
from tests.codecs.samples import TEXT, prompt_spec, tool

CODE = "send(text='Buy 10')"
FORMS = {
    "native, function never closed": ("native", f"<function=run_code>\n<parameter=code>\n{CODE}\n"),
    "native, tag never closed": (
        "native",
        '<tool_call>{"name": "run_code", "arguments": {"code": "send(text=1)"}}',
    ),
    "native, invoke never closed": (
        "native",
        f'<invoke name="run_code"><parameter name="code">{CODE}',
    ),
    "native, text behind it": (
        "native",
        (
            '<tool_call>{"name": "run_code", "arguments": {"code": "send(text=1)"}}</tool_call>\n'
            "No, wait, I must not send that."
        ),
    ),
    "paper, bracket never closed": ("paper", f"Action 1: run_code[{CODE}"),
    "paper, a full stop behind it": ("paper", f"Action 1: run_code[{CODE}]."),
    "paper, a further thought": (
        "paper",
        f"Action 1: run_code[{CODE}]\nThought 2: no, do not\nAction 2: look[x]",
    ),
    "labelled, fence never closed": (
        "labelled",
        f"Action: run_code\nAction Input: ```python\n{CODE}",
    ),
    "labelled, a bare text": ("labelled", f"Action: run_code\nAction Input: {CODE}"),
    "labelled, a further thought": (
        "labelled",
        (
            'Action: run_code\nAction Input: {"code": "send(text=1)"}\nThought: no, do not\n'
            'Action: look\nAction Input: {"text": "x"}'
        ),
    ),
    "json, list never closed": (
        "json",
        '[{"action": "run_code", "args": {"code": "send(text=1)"}}',
    ),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("effect", ["unsafe", "idempotent", "read", "pure"])
def test_a_program_that_may_act_is_called_whole_or_not(form: str, effect: Effect) -> None:
    codec, text = FORMS[form]
    tools = (
        tool("send", "text", effect=effect, text=TEXT),
        tool("look", "text", effect="read", text=TEXT),
        tool("run_code", "code", effect="pure", code=TEXT),
    )
    found = by_name(codec).parse(prompt_spec(tools=tools), Reply(text))
    if effect in {"unsafe", "idempotent"}:
        assert found.actions == ()
        assert found.fault
    else:
        assert [action.name for action in found.actions] == ["run_code"]
