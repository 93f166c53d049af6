"""Code as action: the model writes a program in which the tools are functions.

A scripted demonstration: a script plays the model, and the program and the tools are real. Needs
`make install WITH=code`. Prints:

    (a script plays the model)
    Thought: I add them up.
    total = sum(price(item) for item in ["bread", "milk"])
    print(f"{total / 100:.2f}")
    run_code, price, price
    answered: 4.30
"""

from clew import Agent, MemoryStore, run_sync, sync, tool
from clew.testing import ScriptedModel

try:
    from clew_code.programs import run_code
except ModuleNotFoundError as missing:
    raise SystemExit(f"{missing}: run make install WITH=code") from missing

REPLY = """I add them up.
```python
total = sum(price(item) for item in ["bread", "milk"])
print(f"{total / 100:.2f}")
```"""


@tool(effect="read")
def price(item: str) -> int:
    """Look up what an item costs, in cents."""
    return {"bread": 320, "milk": 110}[item]


def main() -> None:
    print("(a script plays the model)")
    model = ScriptedModel([REPLY, "Answer: 4.30"])
    agent = Agent(model, tools=[price, run_code()], codec="code")
    store = MemoryStore()
    result = run_sync(agent, "What do bread and milk cost?", store=store)
    step = sync.read(result.run_id, store=store).steps[0]
    print(f"Thought: {step.thought.text if step.thought else ''}")
    print(step.calls[0].args["code"])
    print(", ".join(call.action.name for call in step.all_calls))
    print(f"{result.status}: {result.answer}")


if __name__ == "__main__":
    main()
