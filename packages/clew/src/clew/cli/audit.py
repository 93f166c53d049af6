"""`clew show RUN --audit`: the answer of a run, claim by claim, and where the record has it."""

from typing import Final

import msgspec

from clew import ConfigError, Trajectory
from clew.cli.outcome import status
from clew.cli.render import TextBlock
from clew.cli.screen import console, put
from clew.evidence import Audit, Audited, CheckedFact, audit
from clew.interfaces import FINISH, Json
from clew.support.printable import inert
from clew.support.short_text import one_line

STYLES: Final = {"supported": "green", "unsupported": "red", "uncited": "yellow"}


def offered(record: Trajectory) -> Json:
    """The answer of a run; of one that ended without its own, the last that was offered.

    Raises `ConfigError` where there was none.
    """
    if record.stop is not None and record.stop.answer is not None and not record.stop.fallback:
        return record.stop.answer
    for step in reversed(record.steps):
        if step.thought is not None and step.thought.answer is not None:
            return step.thought.answer
        for call in step.calls:
            if call.action.name == FINISH and "answer" in call.args:
                return call.args["answer"]
    raise ConfigError(f"run {record.run_id} never offered an answer: there is nothing to audit")


def audited(record: Trajectory, threshold: float) -> Audit:
    """The audit of what a run offered. Raises `ConfigError`."""
    return audit(offered(record), record, threshold)


def document(record: Trajectory, result: Audit) -> dict[str, Json]:
    """The audit as JSON."""
    told: dict[str, Json] = {
        "run_id": record.run_id,
        "status": status(record),
        "ok": result.ok,
        **msgspec.to_builtins(result),
        "problems": list(result.problems),
    }
    return told


def render_audit(record: Trajectory, result: Audit) -> None:
    """The claims with their state, what was found where, and the references."""
    out = console()
    verdict = "supported" if result.ok else "not supported"
    put(
        out,
        TextBlock("Run", f"{record.run_id} ({status(record)}): the answer is {verdict}", "bold"),
    )
    for why in result.why:
        put(out, TextBlock("Answer", inert(why), "red"))
    for claim in result.claims:
        put(out, _claim(claim))
    for reference in result.references:
        weak = " weak" if reference.doc_id in result.weak else ""
        put(out, TextBlock("Reference", inert(f"{reference}{weak}"), "dim"))


def _claim(claim: Audited) -> TextBlock:
    lines = [inert(one_line(claim.text)), *map(inert, claim.why)]
    lines += [_fact(fact) for fact in claim.facts]
    return TextBlock(claim.state.capitalize(), "\n".join(lines), STYLES.get(claim.state, ""))


def _fact(fact: CheckedFact) -> str:
    description = f"{fact.kind} {fact.text!r}"
    source = fact.source
    if source is None:
        return inert(f"- {description} {fact.why}")
    descriptions = {
        "evidence": f"in [{source.doc_id}] at {source.in_source}",
        "title": f"in the title of [{source.doc_id}]",
        "source": f"in the source of [{source.doc_id}]",
        "observation": f"in observation {source.call} at {source.offset}",
        "calculation": f"from calculation {source.call}",
        "question": "in the question",
        "derived": f"computed from [{source.doc_id}] at {source.in_source}",
    }
    return inert(f"+ {description} {descriptions[source.where]}")
