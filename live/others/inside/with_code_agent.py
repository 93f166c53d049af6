"""smolagents' `CodeAgent`: tools are functions of its programs, which give values as declared."""

import json
from typing import Any

import smolagents
from questions import ASK, caller, serve

KEPT = ("type", "description", "nullable")


def made(tool: dict[str, Any], address: str) -> smolagents.Tool:
    """A tool as smolagents has them: a class with a `forward` of the inputs' names."""
    schema, result = tool["parameters"], tool.get("result")
    needed = schema.get("required", [])
    inputs = {
        name: {"description": name, **{key: one[key] for key in KEPT if key in one}}
        for name, one in schema["properties"].items()
    }
    for name, one in inputs.items():
        if name not in needed:
            one["nullable"] = True
    call = caller(address, tool["name"])

    def forward(self: Any, *values: Any, **named: Any) -> Any:
        args = {**dict(zip(inputs, values, strict=False)), **named}  # code gives them by place too
        text = call(**{name: value for name, value in args.items() if value is not None})
        try:
            value = json.loads(text)
        except ValueError:
            return text
        return value if isinstance(value, dict | list) else text

    kind = type(
        tool["name"].title(),
        (smolagents.Tool,),
        {
            "name": tool["name"],
            "description": tool["description"],
            "inputs": inputs,
            "output_type": "any" if result is None else "object",
            "output_schema": result,
            "skip_forward_signature_validation": True,
            "forward": forward,
        },
    )
    return kind()


def answer(asked: dict[str, Any]) -> str | None:
    model = smolagents.OpenAIServerModel(
        "local",
        api_base=f"{asked['address']}/v1",
        api_key="none",
        temperature=0.0,
        max_tokens=asked["tokens"],
    )
    agent = smolagents.CodeAgent(
        tools=[made(tool, asked["address"]) for tool in asked["tools"]],
        model=model,
        instructions=ASK,
        max_steps=asked["steps"],
        verbosity_level=0,
    )
    return str(agent.run(asked["question"]))


serve(answer)
