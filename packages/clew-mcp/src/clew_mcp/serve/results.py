"""The result of a run, as the result of a tool call."""

import shlex
from typing import Any

import mcp_types as types
import msgspec

from clew import PendingApproval, Result, Trajectory
from clew.stores import without_password

RUN_URI = "clew://runs/"


def text(words: str) -> types.TextContent:
    """A text block of a result."""
    return types.TextContent(type="text", text=words)


def error_result(words: str) -> types.CallToolResult:
    """An error result for a call that began no run; the client's model reads why."""
    return types.CallToolResult(content=[text(words)], is_error=True)


def result_of_run(record: Trajectory, found: Result, place: str) -> types.CallToolResult:
    """The result of a stopped run; `place` is the value of `--store` for commands, or empty."""
    said: dict[str, Any] = {"run_id": found.run_id, "status": found.status}
    if found.reason:
        said["reason"] = found.reason
    answered = found.status in {"answered", "declined"} or found.answer is not None
    if answered and record.stop is not None:
        said["answer"] = record.stop.answer
    if found.cited:
        said["evidence"] = [
            {"id": one.doc_id, "source": one.source, "text": one.text} for one in found.cited
        ]
    if found.pending_approvals:
        said["pending"] = [_pending(each) for each in found.pending_approvals]
    return types.CallToolResult(
        content=[text(_answer_text(record, found, place))],
        structured_content=said,
        is_error=not answered,
    )


def failure_result(run_id: str, why: str, place: str) -> types.CallToolResult:
    """The result of a call whose run failed for now; the run stays open and is retried."""
    words = (
        f"The run {run_id} cannot go on now: {why}. It is kept and tried again; read its record "
        f"later at {RUN_URI}{run_id}, or continue it with: {command('resume', run_id, place)}"
    )
    said = {"run_id": run_id, "status": "open", "reason": why}
    return types.CallToolResult(content=[text(words)], structured_content=said, is_error=True)


def _answer_text(record: Trajectory, found: Result, place: str) -> str:
    if found.status == "held":
        return held_text(found.run_id, found.pending_approvals, place)
    answer = found.answer
    if isinstance(answer, str):
        words = found.with_references()
    elif answer is not None and record.stop is not None:
        words = msgspec.json.encode(record.stop.answer).decode()
    else:
        words = ""
    if found.status == "answered":
        return words
    why = f"{found.status}: {found.reason}" if found.reason else found.status
    return f"{words}\n\n({why}; run {found.run_id})".strip()


def held_text(run_id: str, waiting: tuple[PendingApproval, ...], place: str) -> str:
    """The held calls, and the command to rule on each."""
    lines = ["The run waits for a person's approval:"]
    for each in waiting:
        args = msgspec.json.encode(each.args).decode()
        lines.append(f"- {each.tool} with {args}: {each.why}")
        lines.append(f"  {command('approvals allow', each.run_id, place, each.call)}")
    lines.append(f"The run then continues; its answer is in its record, {RUN_URI}{run_id}.")
    return "\n".join(lines)


def command(verb: str, run_id: str, place: str, *more: str) -> str:
    """A command line to copy."""
    where = ("--store", without_password(place)) if place else ()
    return shlex.join(["clew", *verb.split(), run_id, *more, *where])


def _pending(each: PendingApproval) -> dict[str, Any]:
    return {
        "run_id": each.run_id,
        "call": each.call,
        "tool": each.tool,
        "arguments": each.args,
        "reason": each.why,
    }
