"""Hold a call until a person rules on it, perhaps days later and in another process.

A guard sees every call before it is made. The ruling goes to the run's inbox, where anybody may put
one; whoever resumes the run takes it up. Prints:

    held: waiting for a ruling on 1.1
    1.1 pay(amount=900): more than 100 must be approved
    answered: 90 paid
    paid: [90]
"""

from pathlib import Path
from tempfile import TemporaryDirectory

from clew import Agent, Call, Trajectory, Verdict, run_sync, sync, tool
from clew.testing import ScriptedModel, act, say

PAID: list[int] = []


@tool(effect="unsafe")
def pay(amount: int) -> str:
    """Pay an amount in euros."""
    PAID.append(amount)
    return f"{amount} paid"


async def ask_above_100(call: Call, trajectory: Trajectory) -> Verdict | None:
    """Hold larger payments; None is a plain yes."""
    if call.action.name == "pay" and call.args["amount"] > 100:
        return Verdict("hold", "more than 100 must be approved")
    return None


AGENT = Agent(
    model=ScriptedModel([act("pay", amount=900), say("90 paid")]),
    tools=[pay],
    guards=[ask_above_100],
)


def main(store: Path) -> None:
    held = run_sync(AGENT, "Pay the invoice", store=store)
    print(f"{held.status}: {held.reason}")
    for call in sync.read(held.run_id, store=store).calls:
        if call.held and call.verdict:
            print(f"{call.key} pay(amount={call.args['amount']}): {call.verdict.verdict.reason}")
            # `clew approve RUN 1.1 --edit '{"amount": 90}'` does the same
            sync.rule(f"{held.run_id}:{call.key}", allow=True, args={"amount": 90}, store=store)
    result = sync.resume(AGENT, held.run_id, store=store)
    print(f"{result.status}: {result.answer}")
    print("paid:", PAID)


if __name__ == "__main__":
    with TemporaryDirectory() as folder:
        main(Path(folder) / "runs.sqlite")
