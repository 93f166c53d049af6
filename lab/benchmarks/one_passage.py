"""The record of a run that was asked a question and found one passage, for measuring the audit."""

from clew.core.actions import Action
from clew.core.contents import Evidence, Observation, Reply, text_parts
from clew.core.entries import Entry
from clew.core.events import AnyEvent, Fingerprints, Started, Thought
from clew.core.specs import AgentSpec
from clew.core.trajectory import Trajectory


def record(question: str, passage: str) -> Trajectory:
    """The passage is cited as `[doc_1]`."""
    piece = Evidence("doc_1", passage, 0.9, "")
    events: tuple[AnyEvent, ...] = (
        Started(text_parts(question), AgentSpec("", "scripted:audit", "", "")),
        Thought(
            Reply(), Fingerprints("", "", "", ""), actions=(Action("search", {"query": "it"}),)
        ),
        Observation("1.1", {"results": [{"doc_id": "doc_1"}]}, evidence=(piece,)),
    )
    return Trajectory("audited", [Entry(n, 0, 1, event) for n, event in enumerate(events, 1)])
