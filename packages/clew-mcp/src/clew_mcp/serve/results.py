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


def result_of_run(
    record: Trajectory, result: Result[Any], store_location: str
) -> types.CallToolResult:
    """The result of a stopped run; `store_location` is the value of `--store` for commands, or
    empty.
    """
    structured: dict[str, Any] = {"run_id": result.run_id, "status": result.status}
    if result.reason:
        structured["reason"] = result.reason
    answered = result.status in {"answered", "declined"} or result.answer is not None
    if answered and record.stop is not None:
        structured["answer"] = result.safe_answer
    if result.neutralised:
        structured["neutralised"] = [*result.neutralised]
    if result.cited:
        structured["evidence"] = [
            {"id": one.doc_id, "source": one.source, "text": one.text} for one in result.cited
        ]
    if result.pending_approvals:
        structured["pending"] = [_pending(each) for each in result.pending_approvals]
    return types.CallToolResult(
        content=[text(_answer_text(record, result, store_location))],
        structured_content=structured,
        is_error=not answered,
    )


def failure_result(run_id: str, why: str, store_location: str) -> types.CallToolResult:
    """The result of a call whose run failed for now; the run stays open and is retried."""
    words = (
        f"The run {run_id} cannot go on now: {why}. It is kept and tried again; read its record "
        f"later at {RUN_URI}{run_id}, or continue it with: "
        f"{command('resume', run_id, store_location)}"
    )
    structured = {"run_id": run_id, "status": "open", "reason": why}
    return types.CallToolResult(content=[text(words)], structured_content=structured, is_error=True)


def _answer_text(record: Trajectory, result: Result[Any], store_location: str) -> str:
    if result.status == "held":
        return held_text(result.run_id, result.pending_approvals, store_location)
    answer = result.answer
    if isinstance(answer, str):
        words = result.with_references()
    elif answer is not None and record.stop is not None:
        words = msgspec.json.encode(result.safe_answer).decode()
    else:
        words = ""
    if result.status == "answered":
        return words
    why = f"{result.status}: {result.reason}" if result.reason else result.status
    return f"{words}\n\n({why}; run {result.run_id})".strip()


def held_text(run_id: str, waiting: tuple[PendingApproval, ...], store_location: str) -> str:
    """The held calls, and the command to rule on each."""
    lines = ["The run waits for a person's approval:"]
    for each in waiting:
        args = msgspec.json.encode(each.args).decode()
        lines.append(f"- {each.tool} with {args}: {each.why}")
        lines.append(f"  {command('approve', each.id, store_location)}")
    lines.append(f"The run then continues; its answer is in its record, {RUN_URI}{run_id}.")
    return "\n".join(lines)


def command(verb: str, run_id: str, store_location: str, *more: str) -> str:
    """A command line to copy."""
    where = ("--store", without_password(store_location)) if store_location else ()
    return shlex.join(["clew", *verb.split(), run_id, *more, *where])


def _pending(each: PendingApproval) -> dict[str, Any]:
    return {
        "id": each.id,
        "run_id": each.run_id,
        "call": each.call,
        "tool": each.tool,
        "arguments": each.args,
        "reason": each.why,
        **({"origins": msgspec.to_builtins(each.origins)} if each.origins else {}),
    }
