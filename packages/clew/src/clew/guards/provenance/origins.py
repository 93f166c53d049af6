"""Where values come from: a fold over the record of all that a person or a trusted tool gave.

A value is known as a whole, verbatim. What only untrusted text gave, or the model made up, has no
origin here. Source of the idea: CaMeL, arXiv 2503.18813; here without a second model, and over the
record as it is.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from clew.core.actions import PlannedCall
from clew.core.codes import EFFECTFUL, FINISH
from clew.core.contents import Attachment, Audio, File, Grant, Handed, Observation
from clew.core.events import Attempt, Changed, Forked, Note, Planned, Started
from clew.core.tools import ToolSpec
from clew.core.trajectory import Call, Trajectory
from clew.core.values import Json
from clew.guards.provenance.cards import Card, card_of, is_field_name, rivals_in
from clew.guards.provenance.languages import is_english
from clew.guards.provenance.numbers import PERSON, Numbers
from clew.guards.provenance.records import (
    asked_for,
    extreme,
    keyed,
    prefixed,
    priced,
    records_of,
    with_numbers,
)
from clew.guards.provenance.request import GAP, deciding, spoken
from clew.guards.provenance.results import Result
from clew.guards.provenance.selection import Selection
from clew.guards.provenance.strangers import of_records, own_lines
from clew.guards.provenance.texts import Vocabulary, words_of
from clew.guards.provenance.times import is_day, says_day, times_named
from clew.guards.provenance.untrusted import Untrusted
from clew.guards.provenance.values import (
    is_choice,
    is_name,
    is_number,
    leaves,
    mixed_scripts,
    named_leaves,
    stands_in,
    stands_in_any,
)
from clew.guards.provenance.vouched import Vouched

CONFIG: Final = "the configuration"
ALLOWED: Final = "a call that a person or the plan allowed"
ABOVE: Final = "the run above"

Made = tuple[str, dict[str, Json]]
"""A call that was made, or is about to be: the tool and the arguments."""
Field = tuple[str, str]
"""The field of a result, or "", and the tool."""
_BESIDE_ENTRY: Final = " \t-•*."
"""What stands beside the entries of a list."""
_TELLING: Final = frozenset({Observation, Started, Forked, Planned, Attempt, Note, Changed})
"""The events that say anything of values; most others are passed over by a look at their type."""


class Origins:
    """What is known of a run so far, and by whom; entries are folded as they come."""

    def __init__(self, tools: Mapping[str, ToolSpec], judged: frozenset[str], config: str) -> None:
        self.tools, self._judged = tools, judged
        self._config = config.casefold()
        self.known: dict[str, str] = {}
        """Texts that something trusted gave, and what."""
        self._singled_out: dict[str, str] = {}
        """Names of a list that a person's words single out, whatever else stands in such a name."""
        self._fields: dict[str, set[Field]] = {}
        self.cards: list[Card] = []
        """What trusted tools gave about somebody with an address."""
        self._selection = Selection()
        self._vocabulary = Vocabulary(words_of(config))
        self._folded = 0
        self.numbers = Numbers()
        self.words: list[str] = []
        """What a person said themself, casefolded."""
        self.deciding_words: list[str] = []
        """Those that may decide something, casefolded."""
        self._without_carried: Sequence[str] | None = None
        """Its deciding words without texts that planned calls only carry, once they are wanted."""
        self.untrusted = Untrusted()
        self.sources: dict[str, tuple[str, str]] = {}
        """Untrusted texts that a person's words name, as by an address or the name of a file: where
        they came from last, and all of them."""
        self.made: list[Made] = []
        """Calls of judged tools that were made since a person last spoke."""
        self.refused: list[Made] = []
        """Calls that a person has refused since they last spoke."""
        self.refused_why: list[tuple[str, str]] = []
        """Of those of this run the tool, and why a person was asked."""
        self.made_here: list[Made] = []
        """Of both, those of this run and of what is below it."""
        self.refused_here: list[Made] = []
        self.allowed_before: set[str] = set()
        """Values of calls that were allowed before a person spoke last."""
        self.planned: Sequence[PlannedCall] | None = None
        """What the request calls for; None where nobody asked yet."""
        self.lent: dict[str, Sequence[PlannedCall]] = {}
        """What of the plan was handed on to sub-runs that are not over, by their calls."""
        self.has_read = False
        """Whether the model was shown more than a person's words and what follows from calls."""
        self.secrets: set[str] = set()
        """Values of results that are secret."""
        self.results: dict[str, Result] = {}
        """What was read, by its call."""

    def follow(self, trajectory: Trajectory) -> None:
        """Fold the entries that are new."""
        if self._folded == len(trajectory.entries):
            return
        self._without_carried = None
        events = [entry.event for entry in trajectory.entries[self._folded :]]
        for event in [it for it in events if type(it) in _TELLING]:
            match event:
                case Observation() as observation:
                    self._observe(trajectory.call(observation.call), observation)
                case Started() as started:
                    self._begin(started)
                case Forked(grant=Grant(handed=Handed() as handed)):
                    self._take(handed)
                    self.made_here, self.refused_here = [], []
                case Planned() as planned:
                    self.planned = planned.calls
                case Attempt(grant=Grant(handed=Handed() as handed)) as attempt:
                    self.lent[attempt.call] = handed.planned or ()
                case Note(source="person" | "memory" | "late") as note:
                    if note.source == "person":
                        self.made, self.refused, self.planned = [], [], None
                        self.refused_why = []
                        self.allowed_before = {it for it, of in self.known.items() if of == ALLOWED}
                    trusted = note.trust == "trusted" and note.source == "person"
                    self._hear(note.text, "" if trusted else f"a {note.source}'s note")
                    self._read(note.attachments)
                case Changed(outside=True):
                    self._close_off()
                case Changed(what=what) if self.planned:  # of tools as they were
                    same = (it for it in self.planned if f"tools.{it.tool}" not in what)
                    self.planned = tuple(same)
                case _:
                    pass
        self._folded = len(trajectory.entries)

    def _begin(self, started: Started) -> None:
        """The question; in a sub-run its task, which a model wrote, and what goes down with it."""
        handed = None if started.grant is None else started.grant.handed
        trusted = started.trust == "trusted" and not (handed is not None and handed.read)
        self._hear(started.goal, "" if trusted else "the question")
        self._read(started.attachments)
        if handed is not None:
            for words in handed.words:
                self._hear(words, "")
            self._take(handed)

    def _read(self, attachments: Sequence[Attachment]) -> None:
        """What a person attached: they did not write it, and nobody knows what a picture says."""
        self.has_read = self.has_read or bool(attachments)
        for each in attachments:
            if isinstance(each, Audio | File) and each.text:
                self._hear(each.text, "an attached file")

    def _take(self, handed: Handed) -> None:
        """What comes down from the run above."""
        self._learn_handed(handed)
        self.planned, self.has_read = handed.planned, self.has_read or handed.read
        self.made = [(call.tool, call.args) for call in handed.made]
        self.refused = [(call.tool, call.args) for call in handed.refused]
        self.refused_why = [*handed.refused_why]

    def _learn_handed(self, handed: Handed) -> None:
        self._know((("", it) for it in handed.known), ABOVE, "")
        self.secrets.update(handed.secrets)

    def _hear_from_below(self, handed: Handed) -> None:
        """What a sub-run did and found out."""
        self._learn_handed(handed)
        for made in handed.made:
            self._note_made(made.tool, made.args)
        refused = [(it.tool, it.args) for it in handed.refused]
        self.refused += refused
        self.refused_here += refused
        self.refused_why += [it for it in handed.refused_why if it not in self.refused_why]

    def _note_made(self, name: str, args: Mapping[str, Json]) -> None:
        """A call that can do harm was made: by this run, or below it."""
        self.made.append((name, {**args}))
        self.made_here.append((name, {**args}))

    def of(self, value: Json, *, verbatim: bool = True, even_carried: bool = True) -> str | None:
        """Where a value comes from, or None if nothing trusted gave it.

        Without `even_carried`, what a person's words say only in a text that a planned call carries
        is no word of theirs. Without `verbatim` their words count for nothing but days.
        """
        if not isinstance(value, str):
            if is_choice(value):
                return CONFIG
            if is_number(value):
                return self.numbers.of(float(value))
        if not (text := str(value)):
            return CONFIG
        if (source := self.known.get(text) or self._singled_out.get(text)) is not None:
            return source
        if not text.isascii() and mixed_scripts(text):
            return None
        words = self.deciding_words if even_carried else self._words_without_carried()
        folded = text.casefold()
        if verbatim and stands_in_any(folded, words):
            return PERSON
        if text[4:5] == "-" and _is_day_in(text, words):
            return PERSON
        return CONFIG if folded in self._config and stands_in(folded, self._config) else None

    def _words_without_carried(self) -> Sequence[str]:
        if self._without_carried is None:
            rest = self.deciding_words
            for text in self._carried():
                rest = [words.replace(text.casefold(), GAP) for words in rest]
            self._without_carried = rest
        return self._without_carried

    def _carried(self) -> Iterator[str]:
        """The texts that planned calls only carry: words in them decide nothing."""
        for call in self.planned or ():
            tool = self.tools.get(call.tool)
            for name in () if tool is None else tool.labels.content:
                if name in call.args:
                    every = leaves(call.args[name])
                    yield from [it for it in every if it and isinstance(it, str)]

    def _is_persons(self, text: str) -> bool:
        """Whether a text comes from a person's words, and nothing else gave it."""
        if text in self.known or text in self._singled_out or mixed_scripts(text):
            return False
        words = self.deciding_words
        return stands_in_any(text.casefold(), words) or _is_day_in(text, words)

    def selected(self, name: str, value: Json, *, only_fetched: bool) -> str | None:
        """How a person's words single a value out for an argument, without naming it, or None.

        More counts for what is `only_fetched`.
        """
        if not isinstance(value, str) or mixed_scripts(value):
            return None
        posted = self._selection.posted(value, self.words) if only_fetched else None
        return posted or self._selection.singles_out(name, value, self.words)

    @property
    def is_understood(self) -> bool:
        """Whether a person's words are in the language that the rules for them can read."""
        return all(map(is_english, self.words))

    def fields_of(self, value: Json) -> set[Field]:
        """The fields of results that gave a known value, with the tools."""
        return self._fields.get(str(value), set())

    def names_twice(self, day: str) -> bool:
        """Whether a person's words name a day more than once."""
        return sum(times_named(day, words) for words in self.words) > 1

    def is_one_of_several(self, value: Json, where: str) -> bool:
        """Whether a known value is of this result, and another result has one of that field."""
        field, _, of = self.known.get(str(value), "").partition(" of ")
        others = (it.partition(" of ") for it in self.known.values())
        return of == where and any(it[0] == field and it[2] not in {"", where} for it in others)

    def doubtful(self, value: Json, source: str = "") -> list[Json]:
        """The parts of a carried text that neither a trusted source gave nor this one, or []."""
        if self.of(value) is not None:
            return []
        if not isinstance(value, str):
            return [value]
        if is_day(value):
            is_named = any(says_day(value, words, with_time=False) for words in self.words)
            return [] if is_named else [value]
        return [*self._vocabulary.doubtful(value, self.untrusted.has_word, source)]

    def is_quoted(self, part: str) -> bool:
        """Whether a known value has the part as a whole: enough for what a text only carries."""
        folded = part.casefold()
        return any(stands_in(folded, known.casefold()) for known in self.known)

    def _close_off(self) -> None:
        """What came from outside is no word of a person's here, and it makes nothing known."""
        untrusted, secrets, results = self.untrusted, self.secrets, self.results
        untrusted.learn("the run from outside", "\n".join(self.words))
        vars(self).update(vars(Origins(self.tools, self._judged, self._config)))
        self.untrusted, self.secrets, self.results = untrusted, secrets, results
        self.has_read = True

    def _hear(self, text: str, untrusted_source: str) -> None:
        """A text that the model was shown: a person's words, or that of an untrusted source."""
        if untrusted_source:
            self.untrusted.learn(untrusted_source, text)
            self.has_read = True
            return
        own, pasted = spoken(text)
        if pasted:
            self.untrusted.learn("a text that was pasted", pasted)
            self._vocabulary.learn(pasted)
            self.has_read = True
        self.words.append(own.casefold())
        self.deciding_words.append(deciding(own).casefold())
        self._vocabulary.learn(own)
        self.numbers.hear(own)

    def _observe(self, call: Call, observation: Observation) -> None:
        tool = self.tools.get(call.action.name)
        self.lent.pop(call.key, None)
        if observation.spent is not None and observation.spent.handed is not None:
            self._hear_from_below(observation.spent.handed)
        if call.ruling is not None and not call.ruling.allow:
            self.refused.append((call.action.name, call.args))
            self.refused_here.append((call.action.name, call.args))
            if call.verdict is not None:
                self.refused_why.append((call.action.name, call.verdict.verdict.reason))
        if tool is None or tool.name == FINISH or not observation.made:
            return
        result = self.results[call.key] = Result(tool, call, observation)
        clean, own = None not in map(self.of, result.values), _is_own(tool, observation)
        clean = clean or (call.verdict is not None and self._is_vouched(call, result))
        self.has_read |= tool.effect != "pure" or not own or not clean
        if tool.name in self._judged and observation.outcome != "not_done":
            self._note_made(tool.name, call.args)
        if not own or not clean:
            self.untrusted.learn(result.where, result)
            if observation.ok:
                self._name_source(result)
        if not observation.ok:
            return
        if tool.effect in EFFECTFUL:
            self._learn_effect(result)
        else:
            self._learn(result, clean=clean, own=own)
        if tool.labels.secret:
            texts = [it for it in leaves(observation.content) if isinstance(it, str)]
            texts += [each.text for each in observation.attachments if each.text]
            self.secrets.update(text for text in texts if self.of(text) != PERSON)

    def _is_vouched(self, call: Call, result: Result) -> bool:
        """Whether all that a call asked for is known, or a guard's own word."""
        vouched = Vouched(call, call, self.untrusted)
        return all(it in vouched for it in result.values if self.of(it) is None)

    def _name_source(self, result: Result) -> None:
        """A text is a source that a person named, if its call has that name; a day is no name."""
        for asked in result.asked:
            name = asked.casefold()
            if stands_in_any(name, self.words) and is_name(name) and not is_day(asked):
                before = self.sources.get(name, ("", ""))[1]
                self.sources[name] = result.where, f"{before}\n{result.text}"

    def _learn_effect(self, result: Result) -> None:
        """What a call with an effect made known: its record, and what it was allowed with."""
        for record in result.records[:1]:
            self._know_fields(result, record)
        for name, value in result.args.items():
            if name not in result.tool.labels.content:
                named = [(name, each) for each in leaves(value)]
                self.allowed_before.difference_update([str(each) for _, each in named])
                self._know(named, ALLOWED, result.tool.name)

    def _learn(self, result: Result, *, clean: bool, own: bool) -> None:
        """What a call that only reads made known; `own` says that no third party wrote in it."""
        trusted, records, words = result.tool.labels.trusted, result.records, self.words
        counted = with_numbers(records, trusted)
        if counted:
            for record in keyed(counted, trusted, self.deciding_words, self._is_persons):
                self._know_fields(result, record, numbers_only=True)
        self._selection.learn(result)
        if not clean:
            return
        if own:
            self._learn_own(result)
            return
        if "*" in trusted and not records:  # a text is all that it gave
            self._know(result.named, result.where, result.tool.name)
        if (one := asked_for(records, result.asked)) is not None:
            self._know_fields(result, one)
            self._selection.keep(one)
        if (one := priced(counted, trusted, self.numbers)) is not None:
            self._know_fields(result, one)
        for record in extreme(records, trusted, words):
            self._know_fields(result, record)
        self._singled_out.update((name, result.where) for name in prefixed(result.content, words))

    def _learn_own(self, result: Result) -> None:
        """What a trusted tool gave, but what may have been added to a record or a list."""
        tool, records, named = result.tool.name, result.records, result.named
        if not records:
            content = of_records(result.content)
            records, named = records_of(content), named_leaves(content)
        rivals = rivals_in(records, result.asked)
        own = [each for each in named if each[1] not in rivals] if rivals else named
        self._know(own, result.where, tool)
        names = dict.fromkeys([name for record in records for name in record])
        self._know([("", name) for name in names if is_field_name(name)], result.where, tool)
        if (card := card_of(tool, records, rivals)) is not None and card not in self.cards:
            self.cards.append(card)

    def _know_fields(
        self, result: Result, record: Mapping[str, Json], *, numbers_only: bool = False
    ) -> None:
        """The fields of a record that no third party can choose."""
        trusted = result.tool.labels.trusted
        for field, value in record.items():
            if field in trusted or "*" in trusted:
                values = [(field, it) for it in leaves(value) if not numbers_only or is_number(it)]
                self._know(values, f"{field} of {result.where}", result.tool.name)

    def _know(self, values: Iterable[tuple[str, Json]], source: str, tool: str) -> None:
        """Values are known now, each with the name of the field that it stands in, if any."""
        for field, value in values:
            if value is True or (not value and is_choice(value)):
                continue
            text = str(value)
            self._fields.setdefault(text, set()).add((field, tool))
            if not isinstance(value, str) and is_number(value):
                self.numbers.know(float(value), source)
                continue
            self._vocabulary.learn(text)
            for part in _parts_of(text):
                self.known.setdefault(part, source)


def _is_own(tool: ToolSpec, seen: Observation) -> bool:
    """Whether no third party can have written what a tool gave."""
    return tool.trust == "trusted" and not seen.outside and (seen.ok or seen.trust == "trusted")


def _is_day_in(text: str, words: Sequence[str]) -> bool:
    """Whether a text is a day that casefolded words name."""
    if is_day(text):
        for each in words:
            if says_day(text, each):
                return True
    return False


def _parts_of(text: str) -> Iterable[str]:
    """A text of a trusted tool as a whole, and the entries of a list that it writes in lines."""
    lines = text.splitlines()
    if len(lines) == 1 and ": " not in text:
        line = lines[0].strip(_BESIDE_ENTRY)
        return (text,) if line in {text, ""} else (text, line)
    parts = [text]
    for line in own_lines(lines):
        head, mark, tail = line.partition(": ")
        entries = (line, head, *tail.split(", ")) if mark else (line,)
        parts += [it.strip(_BESIDE_ENTRY) for it in entries]
    return dict.fromkeys(filter(None, parts))
