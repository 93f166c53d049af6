"""Text codecs: each recorded reply is read by clew's codec and held against what was recorded."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from clew.core.actions import Action
from clew.core.codec import Parsed
from clew.core.contents import Reply
from recordings.data import own, records
from recordings.forms import Record
from recordings.part import Figure, Judging, Part, count, share
from recordings.text_formats import FORMATS, ComparableTurn, Format, Turn, comparable, plainly

MINIMUM: Final = 0.999

TEXT: Final = """\
clew's codec parses every recorded reply of the text formats. Thought (without its label) and action
must be those of the recording, apart from outer blanks and the case of a tool's name. FEVER,
WebShop, FireAct and Reflexion are `paper`: WebShop's prompt ended in `Action:`, which is put back;
Reflexion asked for thought and action separately, so the two replies are joined behind their
labels. MedAgent and the software-engineering runs are declared dialects of `Commands`.

- *Unread*: the recording has no action, or one that is marked as unclean or contains a further
  call. The right reading is then the first call that the reply plainly contains, found without a
  codec: a tool's name with its bracket or address at the start of a line or after a label. If there
  is none, or the words leave it open, a fault is right. Each is listed.
- *Recorded otherwise*: the recorded call is not what the reply plainly says. Listed; in the
  project's own recordings there may be none, and in others it is no turn that was compared.
- *Written by the model*: the reply contains the tool's name and every text of the arguments.
"""

_UNCLEAN: Final = frozenset({"original_parse_failure", "action_not_clean", "invalid_post_json"})


@dataclass
class Tally:
    """What came of the turns of one format."""

    form: Format
    read: int = 0
    same: int = 0
    unread: int = 0
    right: int = 0
    nothing: int = 0
    """Of the unread ones read rightly, those that hold no call: a fault each."""
    called: int = 0
    written: int = 0
    otherwise: int = 0
    """Turns of which something else was recorded than the reply plainly says."""
    pairs: set[tuple[str, int]] = field(default_factory=set[tuple[str, int]])
    elsewhere: Counter[str] = field(default_factory=Counter[str])
    missed: list[str] = field(default_factory=list[str])
    listed: Counter[tuple[str, str, str]] = field(default_factory=Counter[tuple[str, str, str]])
    first: dict[tuple[str, str, str], str] = field(default_factory=dict[tuple[str, str, str], str])


def why_unread(form: Format, turn: Turn) -> str:
    """Why what the original made of a turn is no measure; empty where it could read it."""
    flags = sorted(_UNCLEAN.intersection(turn["flags"]))
    again = form.again
    if again is not None and any(again.search(one["arg"] or "") for one in turn["actions"]):
        return "the original took several calls for the argument of one"
    if flags:
        return f"flagged {', '.join(flags)}"
    nothing = not turn["actions"] and (turn["thought"] is None or "action_text" in turn)
    return "no action was recorded" if nothing else ""


def comparable_of(parsed: Parsed) -> ComparableTurn:
    """What clew read, to compare."""
    for action in parsed.actions:
        args = (v.strip() if isinstance(v, str) else v for v in action.args.values())
        return ComparableTurn(parsed.text.strip(), action.name.lower(), tuple(args))
    return ComparableTurn(parsed.text.strip())


def by_the_model(text: str, action: Action) -> bool:
    """Whether the reply holds the action: the word of its tool, and every text of its arguments."""
    words = text.lower()
    named = action.name.lower() in words or action.name == "command"
    return named and all(
        leaf.strip() in text or json.dumps(leaf)[1:-1] in text for leaf in _texts(action.args)
    )


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _texts(inner)


def tallied(form: Format, records: Iterable[Record], judging: Judging | None = None) -> Tally:
    """Read every turn of these records."""
    tally, judging = Tally(form), judging or Judging()
    for record in records:
        with judging.one(record.get("id")):
            if form.of(record):
                _take(tally, record)
    return tally


def _take(tally: Tally, record: Record) -> None:
    form = tally.form
    if why := form.elsewhere(record):
        tally.elsewhere[why] += len(record["turns"])
        return
    for turn in record["turns"]:
        text = form.reply(turn)
        parsed = form.codec.parse(form.prompt_spec, Reply(text))
        _judge(tally, f"{record['id']} step {turn['step']}", turn, text, parsed)
        tally.pairs.add((record["id"], turn["step"]))
        tally.called += len(parsed.actions)
        tally.written += sum(by_the_model(text, action) for action in parsed.actions)


_LABELS: Final = re.compile(r"\b(?:thought|action)[ \d]*:", re.IGNORECASE)


def _words(thought: str) -> list[str]:
    """A thought's words: what readers make of labels, blanks and brackets differs."""
    return _LABELS.sub(" ", thought).replace("[", " ").replace("]", " ").split()


def _judge(tally: Tally, location: str, turn: Turn, text: str, parsed: Parsed) -> None:
    form, ours = tally.form, comparable_of(parsed)
    ways = plainly(form, text)
    right = comparable(ours) in ways if ways else not ours.name
    if why := why_unread(form, turn):
        tally.unread += 1
        tally.right += right
        tally.nothing += right and not ours.name
        _list(
            tally, location, why, parsed, ours, "rightly" if right else "not as it plainly says but"
        )
        return
    wanted = form.recorded(turn)
    alike = ours.called == wanted.called
    if not alike and right:
        tally.otherwise += 1
        _list(tally, location, f"recorded as {wanted}", parsed, ours, "as it plainly says,")
        return
    same = alike and _words(ours.thought) == _words(wanted.thought)
    tally.read += 1
    tally.same += same
    if not same:
        was, made = (wanted.thought, ours.thought) if alike else (str(wanted), str(ours))
        fault = f" ({parsed.fault.partition('. The right')[0]})" if parsed.fault else ""
        what = "the thought" if alike else "it"
        tally.missed.append(
            f"{form.name}, {location}: {what} was recorded as {was}, and is read as {made}{fault}"
        )


def _list(
    tally: Tally, location: str, why: str, parsed: Parsed, ours: ComparableTurn, right: str
) -> None:
    made = str(ours) if ours.name else f"a fault: {parsed.fault.partition('. The right')[0]}"
    key = (why, made, right)
    tally.listed[key] += 1
    tally.first.setdefault(key, location)


def listed(tally: Tally) -> Iterator[str]:
    """The unread turns with what clew makes of them; those alike in one line."""
    for (why, made, right), times in tally.listed.items():
        more = f" and {times - 1} more like it" if times > 1 else ""
        index = tally.first[why, made, right]
        yield f"{tally.form.name}, {index}{more}: {why}; read {right} as {made}"


def figures(tallies: Sequence[Tally], *, own: bool = False) -> Iterator[Figure]:
    """The rows of the page; of `own` recordings none may be recorded otherwise than said."""
    for tally in tallies:
        name = tally.form.name
        yield share(
            f"{name}: thought and action as recorded", tally.same, tally.read, minimum=MINIMUM
        )
        if tally.otherwise:
            read = tally.read + tally.otherwise
            yield count(f"{name}: recorded otherwise than plainly said", tally.otherwise, read)
        if tally.unread:
            yield share(f"{name}: unread turns that clew reads rightly", tally.right, tally.unread)
        for why, turns in tally.elsewhere.items():
            yield count(f"{name}: turns left out, {why}", turns, turns)
    read, unread = sum(one.read for one in tallies), sum(one.unread for one in tallies)
    otherwise = sum(one.otherwise for one in tallies)
    yield count(
        "all: recorded otherwise than plainly said",
        otherwise,
        read + otherwise,
        exactly=0 if own else None,
    )
    yield share("all: thought and action as recorded", sum(one.same for one in tallies), read)
    if unread:
        right = sum(one.right for one in tallies)
        yield share("all: unread turns that clew reads rightly", right, unread, minimum=1.0)
        nothing = sum(one.nothing for one in tallies)
        yield count("of these, read as the call that they hold", right - nothing, right)
        yield count("of these, told to the model as a fault: they hold no call", nothing, right)
    called = sum(one.called for one in tallies)
    written = sum(one.written for one in tallies)
    yield count("actions read that the model wrote", written, called, exactly=called)


def _flagged(tallies: Sequence[Tally]) -> Iterator[Figure]:
    """Whether the turns that were set apart for parsers are all among those above."""
    kinds = {tally.form.kind for tally in tallies}
    apart = [one for one in records("malformed") if one.get("source") in kinds]
    judged = {index for tally in tallies for index in tally.pairs}
    if apart:
        total = sum((one.get("id"), one.get("step")) in judged for one in apart)
        yield count("turns of the file of malformed replies, judged above", total, len(apart))


def measure(sample: int) -> Part:
    """All text formats."""
    judging = Judging()
    all_tallies = [tallied(form, records(form.kind, sample=sample), judging) for form in FORMATS]
    tallies = [tally for tally in all_tallies if tally.read or tally.unread]
    misses = [line for tally in tallies for line in (*tally.missed, *listed(tally))]
    ours = own(*(tally.form.kind for tally in tallies))
    rows = [
        *figures(tallies, own=ours),
        *(_flagged(tallies) if sample == 1 else ()),
        *judging.figures(),
    ]
    return Part(
        "Text codecs", TEXT, rows, [*judging.misses, *misses],
        compared=sum(tally.read + tally.unread for tally in tallies),
        finding="recorded replies are read as their own programs read them",
        lead=("all: thought and action as recorded", "all: unread turns that clew reads rightly"),
    )  # fmt: skip
