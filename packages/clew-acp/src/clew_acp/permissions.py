"""Held calls as requests for permission, and what a person chose as rulings.

There is no "always": clew has no such rule, and what asks is settled by the agent's file.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from acp import schema

from clew import PendingApproval, Trajectory
from clew.guards import describe_origin
from clew.interfaces import Action
from clew.toolbox import ASK_PERSON
from clew_acp.safe_text import as_json, fenced, of_model, quoted
from clew_acp.tool_calls import CallView, Content, text_content

ALLOW: Final = "allow"
REJECT: Final = "reject"

_OPTIONS: Final = {ALLOW: "Allow", REJECT: "Reject"}
_OF_UNKNOWN: Final = {ALLOW: "Make it again", REJECT: "Do not make it again"}
_LONGEST: Final = 2_000


def options(approval: PendingApproval) -> list[schema.PermissionOption]:
    """What a person may choose."""
    names = _OF_UNKNOWN if approval.wants == "outcome" else _OPTIONS
    return [
        schema.PermissionOption(option_id=ALLOW, name=names[ALLOW], kind="allow_once"),
        schema.PermissionOption(option_id=REJECT, name=names[REJECT], kind="reject_once"),
    ]


def call_view(approval: PendingApproval, folder: Path) -> CallView:
    """The held call as an editor shows it."""
    action = Action(approval.tool, approval.args)
    return CallView(f"{approval.run_id}:{approval.call}", action, folder)


def held_call(approval: PendingApproval, view: CallView) -> schema.ToolCallUpdate:
    """The call as a person is asked about it: with the reason, and where its arguments are from."""
    content: list[Content] = [*view.edit(), text_content(fenced("\n".join(_reasons(approval))))]
    return schema.ToolCallUpdate(
        tool_call_id=view.id, title=view.title, kind=view.kind, status="pending",
        content=content, raw_input=view.arguments,
    )  # fmt: skip


def _reasons(approval: PendingApproval) -> Iterator[str]:
    yield approval.why
    for name, origins in approval.origins.items():
        for origin in origins:
            doubt = " (in doubt)" if origin.doubtful else ""
            parts = f": {as_json(list(origin.parts))[:_LONGEST]}" if origin.parts else ""
            yield f"{name} is from {describe_origin(origin)}{doubt}{parts}"
    if approval.behind:
        yield f"{len(approval.behind)} more calls wait behind it"


def waits_for(approval: PendingApproval, record: Trajectory, store_location: str) -> str:
    """What to do about a held call that an editor has no form for."""
    if is_question(approval):
        return f"\n\n{of_model(str(approval.args.get('question', '')), record)}\n"
    verb = "answer" if approval.wants == "result" else "approve"
    where = f" --store {store_location}" if store_location else ""
    lines = fenced(f"{approval.why}\nclew {verb} {approval.id}{where}")
    return f"\n\n{quoted(approval.tool)} waits:\n{lines}\n"


def is_question(approval: PendingApproval) -> bool:
    """Whether the model asks a person something: the next prompt answers it."""
    return approval.tool == ASK_PERSON


def is_permission(approval: PendingApproval) -> bool:
    """Whether allowing or refusing is all that a held call waits for."""
    simple = approval.wants != "result" and approval.asks is None
    return simple and not is_question(approval)
