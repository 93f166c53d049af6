"""Hand tasks to another agent, and rule on what it wants to do: each task is a run of its own.

A scripted demonstration: a script plays the model. The clerk may not send a letter
unasked, so both sub-runs wait, and with them their root. Prints:

    (a script plays the model)
    held: waiting for a ruling on 1.1, 1.2
    demo-1.1 1.1: send {'to': 'Ada'}
    demo-1.2 1.1: send {'to': 'Bob'}
    answered: Ada has her letter.
    sent: ['Ada']
"""

from clew import Agent, Call, MemoryStore, Trajectory, Verdict, delegate, sync, tool
from clew.interfaces import Prompt
from clew.testing import Move, ScriptedModel, act, acts, say

SENT: list[str] = []


@tool(effect="unsafe")
def send(to: str) -> str:
    """Send somebody a letter."""
    SENT.append(to)
    return f"sent to {to}"


async def ask_first(call: Call, trajectory: Trajectory) -> Verdict | None:
    """Hold every letter."""
    return Verdict("hold", "a letter leaves the house") if call.action.name == "send" else None


def to_whom(prompt: Prompt) -> Move:
    """Do the task: a model would read it, this looks for a name in it."""
    return act("send", to="Ada" if "Ada" in prompt.head[-1].text else "Bob")


CLERK = Agent(model=ScriptedModel([to_whom, say("done")]), tools=[send], guards=[ask_first])
ASK = acts(act("clerk", task="Write to Ada"), act("clerk", task="Write to Bob"))
HEAD = Agent(
    model=ScriptedModel([ASK, say("Ada has her letter.")]),
    tools=[delegate(CLERK, name="clerk", description="Writes one letter.")],
)


if __name__ == "__main__":
    print("(a script plays the model)")
    store = MemoryStore()
    held = sync.run(HEAD, "Write to both", store=store, run_id="demo")
    print(f"{held.status}: {held.reason}")
    for each in held.pending_approvals:
        print(f"{each.run_id} {each.call}: {each.tool} {each.args}")
        sync.rule(each.id, allow=each.args["to"] == "Ada", store=store)
    result = sync.resume(HEAD, "demo", store=store)
    print(f"{result.status}: {result.answer}\nsent: {SENT}")
