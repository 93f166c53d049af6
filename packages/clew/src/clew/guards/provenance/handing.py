"""What goes down into a sub-run with its task, and comes up with its answer.

A sub-run is judged as its run would be: by the same words of a person, by what is left of the same
plan, and by what something trusted gave. All of it is in its own record, so that whoever takes the
sub-run up, replays or forks it comes to the same verdicts.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial
from typing import Literal, NamedTuple

from clew.core.actions import PlannedCall
from clew.core.contents import Grant, Handed
from clew.core.events import Note, Started
from clew.core.trajectory import Trajectory
from clew.core.values import Json
from clew.guards.provenance.addresses import addresses_in, identifiers_in
from clew.guards.provenance.origins import ALLOWED, Made, Origins
from clew.guards.provenance.secrets import has_secret
from clew.guards.provenance.values import leaves, numbers_in, stands_in


class Task(NamedTuple):
    """The arguments of a call that begins a sub-run, and the judged tools that this may call."""

    args: Mapping[str, Json]
    tools: Collection[str]


def handed_to(grant: Grant | None) -> Handed:
    """What a run was told from above; nothing, where none is above it."""
    return (None if grant is None else grant.handed) or Handed()


def persons_words(trajectory: Trajectory) -> Iterator[str]:
    """A person's words: the question, or those from above, and their messages to the run."""
    for entry in trajectory.entries[trajectory.closed_off :]:
        match entry.event:
            case Started(grant=Grant(handed=Handed() as handed)):
                yield from handed.words
            case Started(trust="trusted") as started:
                yield started.goal
            case Note(source="person", trust="trusted") as note:
                yield note.text
            case _:
                pass


def handed_up(origins: Origins, answer: Json) -> Handed:
    """What a sub-run tells the run that it serves, with its answer."""
    text = _text_of(answer)
    allowed = (it for it, source in origins.known.items() if source == ALLOWED)
    return Handed(
        known=tuple(dict.fromkeys([*_known_in(origins, text), *allowed])),
        secrets=_secrets_in(origins, text),
        made=_calls(origins.made_here),
        refused=_calls(origins.refused_here),
        refused_why=tuple(origins.refused_why),
    )


def handed_down(
    trajectory: Trajectory,
    origins: Origins,
    *,
    level: Literal["off", "standard", "strict"],
    judges: bool,
    made: Sequence[Made],
    tasks: Sequence[Task],
    left: Sequence[PlannedCall] | None,
) -> list[Handed]:
    """What sub-runs are told that begin at once, by the arguments of their calls.

    `judges` says that whoever wrote these may have been fooled.
    """
    words, parts = tuple(persons_words(trajectory)), _shared_out(left, tasks)
    return [
        Handed(
            level=level,
            words=words,
            known=_known_in(origins, text := _text_of(task.args)),
            secrets=_secrets_in(origins, text),
            planned=None if left is None else tuple(part),
            made=_calls(made),
            refused=_calls(origins.refused),
            refused_why=tuple(origins.refused_why),
            read=judges,
        )
        for task, part in zip(tasks, parts, strict=True)
    ]


def _shared_out(
    left: Sequence[PlannedCall] | None, tasks: Sequence[Task]
) -> list[list[PlannedCall]]:
    """The planned calls by tasks: each goes to one whose run has the tool and that names all it
    binds, as far as there is one; among those to the one with the fewest of the tool.
    """
    parts: list[list[PlannedCall]] = [[] for _ in tasks]
    texts = [_text_of(task.args).casefold() for task in tasks]
    for call in left or ():
        values = [str(value).casefold() for value in leaves(call.args)]
        able = [at for at, task in enumerate(tasks) if call.tool in task.tools]
        named = [at for at in able if all(it in texts[at] for it in values)]
        if fits := named or able:
            parts[min(fits, key=partial(_count, parts, call.tool))].append(call)
    return parts


def _count(parts: Sequence[Sequence[PlannedCall]], tool: str, at: int) -> int:
    return sum(call.tool == tool for call in parts[at])


def _text_of(value: Json) -> str:
    return "\n".join(str(each) for each in leaves(value) if each is not None)


def _known_in(origins: Origins, text: str) -> tuple[Json, ...]:
    """The values in a text that something trusted gave, a person's own words left out."""
    folded = text.casefold()
    parts = (*addresses_in(text), *identifiers_in(text))
    known = [it for it in origins.known if stands_in(it.casefold(), folded)]
    known += [it for it in parts if it not in known and origins.of(it) is not None]
    numbers = [it for it in numbers_in(text) if origins.of(it) is not None]
    return (*dict.fromkeys(known), *dict.fromkeys(numbers))


def _secrets_in(origins: Origins, text: str) -> tuple[str, ...]:
    return tuple(sorted(it for it in origins.secrets if has_secret(text, [it])))


def _calls(made: Sequence[Made]) -> tuple[PlannedCall, ...]:
    return tuple(PlannedCall(name, args) for name, args in made)
