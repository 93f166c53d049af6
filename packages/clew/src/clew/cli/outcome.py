"""What a run came to: for a person at its end, and for a program as one JSON document."""

import sys
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial, wraps
from typing import Any, Final

import anyio
import msgspec
from rich.console import Console

from clew import Evidence, PendingApproval, Result, Trajectory, Usage
from clew.agent.approvals import pending_here
from clew.citations import titles
from clew.cli.answer_text import put_answer
from clew.cli.approval_prompts import leave_word, render_approval
from clew.cli.continue_hint import continue_hint
from clew.cli.errors import ANSWERED, CONTRADICTED, EXITS, FAILED, reader_left
from clew.cli.options import DEBUG, JSON, QUIET
from clew.cli.render import WIDE, TextBlock, dollars, settings_in_force, unknown
from clew.cli.safe_text import json_text, say
from clew.cli.screen import RunScreen, console, put, watching
from clew.cli.store_option import command
from clew.guards import safe_links
from clew.interfaces import Json, Landing
from clew.support.json_values import text_or_json
from clew.support.printable import inert
from clew.support.short_text import one_line

RAISED: Final = frozenset({"steps", "tokens", "cost", "seconds"})
"""The bounds that a person may raise."""


@dataclass(frozen=True)
class ShownResult:
    """A result with the record it was read from; `result` is None where the run has not stopped.

    `why` says why the model was chosen, if nobody named it; `error` and `reason` why the run is
    open. Of a vote there is also how it stands. With `references` a text that is the answer cites
    by number and ends with the list. `go_on` continues the run, where its agent can be made again.
    """

    record: Trajectory
    result: Result[Any] | None
    store: str | None = None
    why: str = ""
    reason: str = ""
    error: BaseException | None = None
    vote: Any = None  # a `Vote`, of the package that has votes
    references: bool = False
    go_on: Callable[[RunScreen], Awaitable["ShownResult"]] | None = None

    @property
    def answer(self) -> object:
        """The answer as it is shown; None where there is none."""
        if self.result is None:
            return None
        return self.result.with_references() if self.lists_references else self.result.safe_answer

    @property
    def lists_references(self) -> bool:
        """Whether the answer as it is shown ends with the list of what it cites."""
        result = self.result
        return self.references and result is not None and isinstance(result.answer, str)

    @property
    def status(self) -> str:
        """The reason of the last stop, else "open"; a vote may be held by one of its runs."""
        held = self.result is not None and self.result.status == "held"
        return "held" if held else status(self.record)

    @property
    def used(self) -> Usage:
        """What it took, the runs of a vote included."""
        return self.record.usage if self.vote is None else self.vote.result.usage

    @property
    def lost(self) -> Usage:
        """An estimate of calls nobody saw the end of, which `used` does not count."""
        return self.record.total.lost if self.vote is None else self.vote.result.lost

    @property
    def steps(self) -> int:
        """The steps, those of the runs for a vote."""
        return len(self.record.steps) if self.vote is None else self.vote.result.steps

    @property
    def evidence(self) -> Sequence[Evidence]:
        """Everything the answer may cite."""
        return self.record.evidence if self.vote is None else self.vote.result.evidence


def status(record: Trajectory) -> str:
    """The reason of the last stop; a run without one is open."""
    return record.stop.status if record.stop is not None else "open"


def fork_of(record: Trajectory) -> dict[str, Json] | None:
    """Which run a fork was cut from, after which step; None for a run that is no fork."""
    if not record.forks:
        return None
    last = record.forks[-1]
    return {"run_id": last.parent, "step": last.step, "changed": list(last.what)}


def document(end: ShownResult) -> dict[str, Json]:
    """Everything there is to know of the end of a run."""
    record, result = end.record, end.result
    spec = record.spec
    named = titles(record)
    return {
        "run_id": record.run_id,
        "status": end.status,
        "ok": result is not None and result.ok,
        "reason": result.reason if result is not None else end.reason,
        "code": result.code if result is not None else "",
        "fork_of": fork_of(record),
        "question": record.goal,
        "answer": end.answer,
        "raw_answer": None if record.stop is None or result is None else record.stop.answer,
        "neutralised": [*(result.neutralised if result is not None else ())],
        "note": result.note if result is not None else "",
        "fallback": result is not None and result.fallback,
        "cited": [_evidence(piece, named) for piece in (result.cited if result else ())],
        "evidence": [_evidence(piece, named) for piece in end.evidence],
        "links": [msgspec.to_builtins(link) for link in (result.links if result else ())],
        "steps": end.steps,
        "usage": usage(end.used),
        "lost": usage(end.lost),
        "model": spec.model if spec is not None else "",
        "model_chosen": end.why,
        "settings": settings_in_force(end.record.started),
        "pending_approvals": [each.to_json() for each in pending(end)],
        "unknown": result.to_json()["unknown"] if result is not None else [],
        "work": result.work.to_json() if result is not None else None,
        "outcome": result.outcome if result is not None else "",
        "contradicted": result is not None and result.contradicted,
        "exit_code": exit_code(end),
        "vote": None if end.vote is None else vote_document(end.vote),
    }


def vote_document(vote: Any) -> dict[str, Json]:
    """How a vote was decided, and the runs it was decided from."""
    return {
        "how": vote.how,
        "words": vote.words,
        "chosen": vote.chosen,
        "counts": [{"answer": each.answer, "runs": each.runs} for each in vote.counts],
        "verifier": msgspec.to_builtins(vote.choice),
        "runs": [{**msgspec.structs.asdict(run), "usage": usage(run.usage)} for run in vote.runs],
    }


def usage(used: Usage) -> dict[str, Json]:
    """All of its fields, zeros and the unknown cost too."""
    return {**msgspec.structs.asdict(used), "tokens": used.tokens}


def _evidence(piece: Evidence, named: dict[str, str]) -> dict[str, Json]:
    return {**msgspec.structs.asdict(piece), "title": named.get(piece.doc_id, "")}


def tell_end(out: Console, end: ShownResult) -> None:
    """The answer, what it rests on, and what it took."""
    result = end.result
    if result is not None and result.answer is not None:
        out.print()
        label = "Declined" if result.status == "declined" else "Answer"
        note = f"\n({result.note})" if result.note and not result.fallback else ""
        put_answer(out, label, inert(text_or_json(end.answer) + note))
        if result.fallback:
            put(out, TextBlock("Note", "this answer was declared beforehand, not found", "yellow"))
    if result is not None and result.note and (result.answer is None or result.fallback):
        put(out, TextBlock("Note", inert(result.note), "yellow"))
    if result is not None and result.outcome_line:
        style = "yellow" if result.contradicted else "dim"
        put(out, TextBlock("Outcome", result.outcome_line, style))
    if result is not None and result.work.line and end.status != "held":
        put(out, TextBlock("Record", inert(result.work.line), "dim"))
        for call in result.unknown:
            put(out, unknown(call))
            settle = command("settle", call.id, "--done", store=end.store)
            put(out, TextBlock("Settle it", f"{settle}, or with --not-done"))
    for source in sources(end):
        put(out, source)
    for link in (*outside(end), *neutralised(end)):
        put(out, link)
    for piece in voted(end):
        put(out, piece)
    for piece in rulings(end) if end.status == "held" else stopped(end):
        put(out, piece)
    out.print(summary(end), style="dim")


def sources(end: ShownResult) -> Iterator[TextBlock]:
    """The cited pieces: id, path and title; none where the answer's own text lists them."""
    if end.result is None or end.lists_references:
        return
    for one in end.result.references:
        yield TextBlock(f"[{inert(one.doc_id)}]", inert(one.named), "dim")


def outside(end: ShownResult) -> Iterator[TextBlock]:
    """The links of the answer that no person gave, but for those of the cited pieces."""
    result = end.result
    cited = {piece.source for piece in result.cited} if result is not None else set[str]()
    for link in result.links if result is not None else ():
        if link.address in cited and not link.image:
            continue
        where = "stands in nothing that was read"
        if link.call:
            tool = end.record.call(link.call).action.name
            where = f"{'was' if link.complete else 'its host was'} read in what {tool} returned"
            where = f"{where} ({link.call})"
        kind = "Image" if link.image else "Link"
        line = f"{link.address} · {where}, and no person gave it"
        yield TextBlock(kind, inert(str(safe_links(end.record)(line)[0])), "yellow")


def neutralised(end: ShownResult) -> Iterator[TextBlock]:
    """That addresses of the answer were written so that they lead nowhere."""
    if end.result is not None and (unsafe := end.result.neutralised):
        what = "1 address" if len(unsafe) == 1 else f"{len(unsafe)} addresses"
        told = "shown so that nothing is fetched: text from outside could have planted them"
        yield TextBlock("Made safe", f"{what}, {told} (--json has the raw answer)", "yellow")


def voted(end: ShownResult) -> Iterator[TextBlock]:
    """How a vote was decided, and each of its runs in a line."""
    if end.vote is None:
        return
    if end.vote.words:
        yield TextBlock("Vote", inert(end.vote.words))
    for run in end.vote.runs:
        line = f"{_answer_line(run)} · {run.status} · run {run.run_id}"
        yield TextBlock(f"Run {run.run}", line, "dim")


def _answer_line(run: Any) -> str:
    """A run's answer in a line; without one, why."""
    if not run.form:
        return inert(run.reason) or "no answer"
    return one_line(inert(text_or_json(run.answer)), WIDE)


def pending(end: ShownResult) -> Sequence[PendingApproval]:
    """What waits for a person, in sub-runs too; of an open run, what its own record says."""
    return (
        end.result.pending_approvals if end.result is not None else tuple(pending_here(end.record))
    )


def rulings(end: ShownResult) -> Iterator[TextBlock]:
    """What waits for a person, and the commands that rule on it."""
    run_id = end.record.run_id
    for each in pending(end):
        yield from render_approval(each, end.store, run_id)
    if tools := _judged_by_origin(end.record):
        text = f"--set provenance.exempt={','.join(tools)}"
        text += f"; in an agent file: [provenance], below it exempt = {json_text(tools)}"
        yield TextBlock("Never ask", inert(text))
    for run in end.vote.runs if end.vote is not None else ():
        if run.status == "held":
            yield TextBlock("Look", command("show", run.run_id, store=end.store))
            yield TextBlock("Allow", command("approve", run.run_id, store=end.store))
            refuse = command("reject", run.run_id, "--why", "REASON", store=end.store)
            yield TextBlock("Refuse", refuse)
    yield TextBlock("Then", continue_hint(end.record, store=end.store))


def _judged_by_origin(record: Trajectory) -> list[str]:
    """The tools whose held calls wait for where their arguments come from."""
    held = (it for it in record.held if it.verdict and it.verdict.by.startswith("Provenance("))
    return [*dict.fromkeys(call.action.name for call in held)]


def stopped(end: ShownResult) -> Iterator[TextBlock]:
    """Why there is no answer, or only the best that could be had, and how to go on."""
    result = end.result
    if result is None or result.ok or result.status == "declined":
        return
    yield TextBlock("Stopped", inert(_why(end.record, result)), "yellow")
    if end.vote is not None:
        return
    bound = "" if end.record.stop is None else end.record.stop.code
    if result.status == "bound" and bound in RAISED:
        further = ["--accept-change", "--set", f"limits.{bound}=N"]
    elif result.status in {"interrupted", "refused"}:
        further = ["--say", "TEXT"]
    else:
        return
    yield TextBlock("Go on", continue_hint(end.record, *further, store=end.store))


def _why(record: Trajectory, result: Result[Any]) -> str:
    """The reason; of a bound also how far it was reached."""
    landed = [e.event for e in record.entries if isinstance(e.event, Landing)]
    bound, mark, more = result.reason.partition("; ")
    if result.status == "bound" and landed and landed[-1].bound == bound and landed[-1].detail:
        return f"{bound} ({landed[-1].detail}){mark}{more}"
    return result.reason


def summary(end: ShownResult) -> str:
    """Status, steps, tokens, cost and run id on one line."""
    used, steps = end.used, end.steps
    parts = [
        end.status,
        f"{steps} step{'' if steps == 1 else 's'}",
        f"{'about ' if used.estimated else ''}{used.tokens:,} tokens",
        _cost(end),
        *([_lost(end.lost)] if end.lost.tokens else []),
        f"run {end.record.run_id}",
    ]
    return " · ".join(parts)


def _cost(end: ShownResult) -> str:
    """What it cost; what open sub-runs took is not in it yet."""
    number = sum(bool(call.child) and not call.observation for call in end.record.step.all_calls)
    if not number:
        return dollars(end.used)
    name = f"{number} open sub-run{'' if number == 1 else 's'}"
    if not end.used.tokens:
        return f"{name}, not counted yet"
    return f"{dollars(end.used)}, without {name}"


def _lost(used: Usage) -> str:
    """Tokens spent outside recorded replies."""
    if used.estimated:
        return f"about {used.tokens:,} more tokens may be lost"
    return f"{used.tokens:,} more tokens by a critic"


def run_command(work: Callable[..., Awaitable[ShownResult]]) -> Callable[..., int]:
    """A command that shows a run to its end, with --json, --quiet and --debug.

    `work` takes the screen, and the other options by their names.
    """

    @wraps(work)
    def command(*, as_json: bool, quiet: bool, **arguments: Any) -> int:
        with watching(as_json=as_json, quiet=quiet) as screen:
            end = anyio.run(partial(work, screen, **arguments))
        code = finish(end, as_json=as_json)
        while not as_json and not quiet and end.go_on is not None and _rules_here(end):
            with watching(as_json=as_json, quiet=quiet) as screen:
                end = anyio.run(end.go_on, screen)
            code = finish(end, as_json=as_json)
        return code

    return JSON(QUIET(DEBUG(command)))


def _rules_here(end: ShownResult) -> bool:
    """Ask a person at the terminal about each call that waits; whether the run may go on now."""
    if end.status != "held" or not (sys.stdin.isatty() and sys.stdout.isatty()):
        return False
    try:
        ruled = [leave_word(each, end.store) for each in pending(end)]
    except (EOFError, KeyboardInterrupt):
        say("\nwhat you did not rule on still waits")
        return False
    return all(ruled)


def finish(end: ShownResult, *, as_json: bool) -> int:
    """Show the end on stdout and return the exit code. Raises the error that left the run open.

    Where nobody reads it, the run has ended all the same, and the code says how.
    """
    try:
        if as_json:
            say(json_text(document(end)))
        elif end.result is not None:
            tell_end(console(), end)
    except BrokenPipeError:
        reader_left()
    except OSError as error:
        error.add_note(
            f"the run is on record: {command('show', end.record.run_id, store=end.store)}"
        )
        raise
    if end.error is not None:
        raise end.error
    return exit_code(end)


def exit_code(end: ShownResult) -> int:
    """What the command ends with: by the status, and of an answer by what the record holds."""
    if end.result is None:
        return FAILED
    code = EXITS[end.result.status]
    return CONTRADICTED if code == ANSWERED and end.result.contradicted else code
