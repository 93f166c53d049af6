"""smolagents: its `ToolCallingAgent` and its `CodeAgent`, with their own limit on steps."""

import json
import urllib.request
from collections.abc import Callable
from typing import Any

import smolagents
from questions import ASK, caller, serve

KEPT = ("type", "description", "nullable")


def value(text: str) -> Any:
    """A result as a program uses it: what is an object or a list in JSON is one."""
    try:
        document = json.loads(text)
    except ValueError:
        return text
    return document if isinstance(document, dict | list) else text


def made(tool: dict[str, Any], address: str, *, values: bool) -> smolagents.Tool:
    """A tool as smolagents has them: a class with a `forward` of the inputs' names.

    With `values` it gives what a program can use, and says which fields that has where it can.
    """
    schema, result = tool["parameters"], tool.get("result") if values else None
    needed = schema.get("required", [])
    inputs = {
        name: {"description": name, **{key: one[key] for key in KEPT if key in one}}
        for name, one in schema["properties"].items()
    }
    for name, one in inputs.items():
        if name not in needed:
            one["nullable"] = True
    call = caller(address, tool["name"])

    def forward(self: Any, *positional: Any, **named: Any) -> Any:
        args = {
            **dict(zip(inputs, positional, strict=False)),
            **named,
        }  # code gives them by place too
        text = call(**{name: one for name, one in args.items() if one is not None})
        return value(text) if values else text

    kind = type(
        tool["name"].title(),
        (smolagents.Tool,),
        {
            "name": tool["name"],
            "description": tool["description"],
            "inputs": inputs,
            "output_type": ("any" if result is None else "object") if values else "string",
            "output_schema": result,
            "skip_forward_signature_validation": True,
            "forward": forward,
        },
    )
    return kind()


def checks(address: str) -> list[Callable[..., bool]]:
    """The check of an answer, as smolagents has them: what it raises, the model is told."""

    def check(final_answer: Any, *_: Any, **__: Any) -> bool:
        body = json.dumps({"answer": final_answer}, default=str).encode()
        request = urllib.request.Request(f"{address}/check", body, method="POST")
        with urllib.request.urlopen(request, timeout=120) as results:
            if wrong := results.read().decode():
                raise ValueError(wrong)
        return True

    return [check]


def answer(asked: dict[str, Any]) -> str | None:
    model = smolagents.OpenAIServerModel(
        "local",
        api_base=f"{asked['address']}/v1",
        api_key="none",
        temperature=0.0,
        max_tokens=asked["tokens"],
    )
    kind = getattr(smolagents, asked["form"])
    agent = kind(
        tools=[
            made(tool, asked["address"], values=asked["form"] == "CodeAgent")
            for tool in asked["tools"]
        ],
        model=model,
        instructions=ASK,
        max_steps=asked["steps"],
        verbosity_level=0,
        final_answer_checks=checks(asked["address"]) if asked["checked"] else None,
    )
    return str(agent.run(asked["question"]))


serve(answer)
