"""A shop whose agents get its deps: what the tests of deps share."""

from dataclasses import dataclass, field
from typing import Any

from clew import Agent, Call, RunContext, Verdict, tool
from clew.deps import RunIdentity
from clew.guards import Provenance
from clew.testing import ScriptedModel, act, finish

SECRET = "sk-ledger-of-the-shop-4711"
"""In every deps; no record may hold it."""

REFUND = act("refund", order="A7", amount=30)


@dataclass
class Shop:
    user: str
    seen: list[str] = field(default_factory=list)
    key: str = SECRET


SHOPS: dict[str, Shop] = {}
"""What the factory made, by run."""


def open_shop(run: RunIdentity) -> Shop:
    """The shop of a run, by its recorded labels."""
    shop = SHOPS[run.run_id] = Shop(f"{run.labels['user']} of {run.owner or 'nobody'}")
    return shop


async def open_shop_later(run: RunIdentity) -> Shop:
    return open_shop(run)


@tool
def refund(order: str, amount: int, ctx: RunContext[Shop]) -> str:
    """Refund an order."""
    ctx.deps.seen.append(f"refund {order} for {ctx.deps.user} by {ctx.key}")
    return f"refunded {amount}"


@tool(effect="read")
async def look(order: str, ctx: RunContext[Shop]) -> str:
    """Look an order up."""
    ctx.deps.seen.append(f"look {order} for {ctx.deps.user}")
    return f"{order} is paid"


def held(call: Call, _record: Any) -> Verdict | None:
    """Hold every refund."""
    return Verdict("hold", "ask first") if call.action.name == "refund" else None


def clerk(*moves: Any, **fields: Any) -> Agent[str, Shop]:
    """An agent that makes these moves, and then says that it is done."""
    guards = [Provenance("off"), *fields.pop("guards", ())]
    fields.setdefault("tools", [refund, look])
    script = [*moves, finish("done")] if moves else [REFUND, finish("done")]
    return Agent[str, Shop](ScriptedModel(script), guards=guards, **fields)
