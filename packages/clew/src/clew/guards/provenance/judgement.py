"""What speaks against making a call unasked: for each argument, its values and where they stand."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from clew.core.actions import PlannedCall
from clew.core.codes import EFFECTFUL
from clew.core.tools import ToolSpec
from clew.core.trajectory import Call
from clew.core.values import Json
from clew.guards.provenance.addresses import addresses_in, identifiers_in, is_page
from clew.guards.provenance.cards import wants_address
from clew.guards.provenance.choices import (
    choices,
    is_asked_for,
    is_chosen,
    is_usual,
    properties,
)
from clew.guards.provenance.clauses import clauses, crossed_in
from clew.guards.provenance.earlier import EARLIER, is_overruled
from clew.guards.provenance.numbers import COMPUTED, PERSON
from clew.guards.provenance.open_times import is_left_open
from clew.guards.provenance.origins import CONFIG, Made, Origins
from clew.guards.provenance.plans import fitting, unmade
from clew.guards.provenance.secrets import has_secret
from clew.guards.provenance.times import is_day, lasts
from clew.guards.provenance.values import (
    argument_leaves,
    is_choice,
    is_number,
    leaves,
    new_keys,
    stands_in,
    words_in,
)
from clew.guards.provenance.vouched import Vouched

PLAN: Final = "the plan"
OFFERED: Final = "the tool's own choices"
COMPUTED_END: Final = "a known start, and how long a person said it lasts"
OPEN_TIME: Final = "a day that a person named without a time"
NOT_CALLED_FOR: Final = "the request does not call for it"
MADE_ALREADY: Final = "it was made already"
CROSSED: Final = "stands beside another value in the request"
NOT_READ: Final = "a request that is not in English, where nothing binds it"
_BY_READING: Final = (PERSON, COMPUTED, None)
"""Origins that hold only where a person's words can be read: some words forbid what they name."""
LEFT_OUT: Final = "is empty, though the request asks for it"

_PARTS_OF_TIME: Final = ("year", "month", "day", "hour", "minute", "date", "time")
_DAY_ALONE: Final = len("2024-05-19")
_ID: Final = re.compile(r"(\w+?)_?ids?")


@dataclass(frozen=True)
class Doubt:
    """Why a call is asked about: an argument with its doubtful values, or the whole call ("")."""

    argument: str
    values: tuple[Json, ...]
    why: str

    def __str__(self) -> str:
        """As a person reads it."""
        if not self.argument:
            return self.why
        named = f"{self.argument}: " if self.values else f"{self.argument} "
        return f"{named}{', '.join(map(repr, self.values))}{' ' if self.values else ''}{self.why}"


class Judgement:
    """One call, against what is known of the run."""

    def __init__(
        self,
        origins: Origins,
        tool: ToolSpec,
        pending: Call,
        made: Sequence[Made] = (),
        written: Call | None = None,
    ) -> None:
        """`made` are the calls that were made before it, or will be; `written` is the call as the
        model wrote it, where guards may have changed it.
        """
        self.origins, self.tool, self.pending, self._made = origins, tool, pending, made
        self._args = pending.args
        self.planned = fitting(unmade(origins, made), tool.name, self._args)
        """The planned call that this one is."""
        self._bound: Mapping[str, Json] = {} if self.planned is None else self.planned.args
        self._vouched = None
        if pending.verdict is not None and written is not None:
            self._vouched = Vouched(pending, written, origins.untrusted)
        self._source = self._only_source()
        self._origins: dict[tuple[str, str, Json], str | None] = {}
        """The origins of values that were looked up: a verdict that is recorded asks twice."""
        self._offers: dict[str, Sequence[Json]] = {}
        """By argument what the tool's schema offers for it, as far as it was looked up."""
        self.doubts = [*self._doubts()]
        """All that speaks against it."""

    def origin(self, name: str, value: Json) -> str | None:
        """Where a value of an argument comes from; None if nothing that is trusted gave it."""
        key = (name, type(value).__name__, value)  # True is no 1
        if key not in self._origins:
            self._origins[key] = self._origin(name, value)
        return self._origins[key]

    def _origin(self, name: str, value: Json) -> str | None:
        if name in self._bound:
            return PLAN
        if self._vouched is not None and (guard := self._vouched.source(name, value)):
            return guard
        if name in self.tool.labels.content:
            return self.origins.of(value)
        return self._offered(name, value) or self._known(name, value)

    @property
    def is_refused(self) -> bool:
        """Whether a person has said no to the very call, or to the like of it.

        A call that the request does not call for is like one of the same tool with the same
        doubts; and like any, if nothing that decides is known of it.
        """
        refused, name = self.origins.refused, self.tool.name
        if (name, self._args) in refused:
            return True
        if not refused or self.planned is not None:
            return False
        why = sentence_of([doubt for doubt in self.doubts if doubt.values])
        alike = why and any(
            tool == name and reason.endswith(f"; {why}")
            for tool, reason in self.origins.refused_why
        )
        return bool(alike) or not self._has_known

    @property
    def _has_known(self) -> bool:
        """Whether any argument that decides something is known."""
        content = self.tool.labels.content
        return any(
            self.origin(name, each) is not None
            for name, value in self._args.items()
            if name not in content
            for each in leaves(value)
            if not is_choice(each)
        )

    def _doubts(self) -> Iterator[Doubt]:
        args = self._args
        is_named_again = self.planned is not None and self.planned.args == args
        if (self.tool.name, args) in self._made and not is_named_again:
            yield Doubt("", (), MADE_ALREADY)
            return
        if self.planned is None and not self._fetches_what_was_named:
            yield Doubt("", (), NOT_CALLED_FOR)
        elif self.tool.labels.traces:
            return
        content, is_only_content = self.tool.labels.content, self._is_only_content()
        for name, value in args.items():
            if name not in self._bound:
                is_content = is_only_content or name in content
                yield from (self._of_text if is_content else self._of_deciding)(name, value)
        if self.planned is not None:
            yield from self._crossed()
            yield from self._left_out()
        for name, value in args.items() if self.origins.secrets else ():
            text = " ".join(str(each) for each in leaves(value) if each is not None)
            if has_secret(text, self.origins.secrets):
                yield Doubt(name, (), "has a value of a secret result")

    def _is_only_content(self) -> bool:
        """Whether a planned call has no argument that decides anything: all of it is content."""
        if self.planned is None or self._bound:
            return False
        content = self.tool.labels.content
        deciding = (value for name, value in self._args.items() if name not in content)
        return all(is_choice(each) for value in deciding for each in leaves(value))

    @property
    def _only_fetches(self) -> bool:
        """Whether it sends nothing but what it asks for."""
        return self.tool.labels.egress and self.tool.effect not in EFFECTFUL

    @property
    def _fetches_what_was_named(self) -> bool:
        """Whether it only fetches a page that a person named, for no other call: that needs no
        plan.
        """
        args, calls = self._args, self.origins.planned or ()
        if not self._only_fetches or not args:
            return False
        others = {
            str(it) for each in calls if each.tool != self.tool.name for it in leaves({**each.args})
        }
        return all(
            isinstance(it, str)
            and is_page(it)
            and it not in others
            and self.origin(name, it) is not None
            for name, it in args.items()
        )

    def _of_deciding(self, name: str, value: Json) -> Iterator[Doubt]:
        if isinstance(value, dict | list | tuple):
            each = argument_leaves(value, self._own_words)
            keys = {it for it in new_keys(value, self._own_words) if self.origins.of(it) == PERSON}
            if keys and self._vouched is not None:
                keys = {it for it in keys if not self._vouched.source(name, it)}
            doubted = tuple(it for it in each if it in keys or self.origin(name, it) is None)
        else:
            doubted = (value,) if self.origin(name, value) is None else ()
        if doubted:
            yield self._doubt(name, doubted)

    def _own_words(self) -> frozenset[str]:
        """Words of the tool's schema and, if its author is trusted, of its description: but what
        the tool's name says that it works on is no field of it.
        """
        words = words_in(str(self.tool.parameters))
        if self.tool.labels.foreign:
            return frozenset(words)
        named = words_in(self.tool.name.replace("_", " "))
        return frozenset(words) | (frozenset(words_in(self.tool.description)) - {*named})

    def _of_text(self, name: str, value: Json) -> Iterator[Doubt]:
        """Parts of a text that nothing trusted gave: addresses and numbers, and whole sentences."""
        for each in leaves(value):
            if is_choice(each) or self.origins.of(each) is not None:
                continue
            if self._vouched is not None and self._vouched.source(name, each):
                continue
            parts = [*addresses_in(str(each)), *identifiers_in(str(each))]
            known = self.origins
            doubted: list[Json] = [
                it for it in parts if known.of(it) is None and not known.is_quoted(it)
            ]
            if self.planned is not None and not (self._bound and is_day(str(each))):
                doubted += [it for it in known.doubtful(each, self._source[1]) if it not in doubted]
            if doubted:
                yield self._doubt(name, tuple(doubted))

    def _only_source(self) -> tuple[str, str]:
        """Where the text that the call's own text is to be made of came from, and that text; there
        can be but one.

        The plan has one call with an open text, and a person's words name one source.
        """
        sources, calls = self.origins.sources, self.origins.planned or ()
        if len(sources) != 1 or [*map(self._leaves_text_open, calls)].count(True) != 1:
            return "", ""
        return next(iter(sources.values())) if self._is_understood else ("", "")

    def _leaves_text_open(self, planned: PlannedCall) -> bool:
        tool = self.origins.tools.get(planned.tool)
        return tool is not None and any(it not in planned.args for it in tool.labels.content)

    def _doubt(self, name: str, doubted: tuple[Json, ...]) -> Doubt:
        """Why an argument is doubted, and where its values stand in untrusted text."""
        where = next((seen for it in doubted if (seen := self.origins.untrusted.source_of(it))), "")
        if not (where or self._is_understood) and any(map(self.origins.of, doubted)):
            where = NOT_READ
        if not where and self._vouched is not None and self._vouched.is_new(doubted):
            by = self._vouched.last
            where = f"the guard {by}, which vouches for no such value (Verdict.origins)"
        return Doubt(name, doubted, f"comes from {where or 'nothing that is trusted'}")

    @property
    def _is_understood(self) -> bool:
        return self.origins.is_understood

    def _choices(self, name: str) -> Sequence[Json]:
        """What the tool's schema offers for an argument."""
        if name not in self._offers:
            self._offers[name] = choices(self.tool.parameters, name)
        return self._offers[name]

    def _offered(self, name: str, value: Json) -> str | None:
        """Whether the tool itself offers the value, and the plan or a person's words left it so."""
        schema = self.tool.parameters
        if not is_choice(value) and value not in self._choices(name):
            return None
        free = is_usual(schema, name, value) or (
            self._is_understood and is_chosen(name, value, self.origins.words)
        )
        return OFFERED if free or not self._bound else None

    def _crossed(self) -> Iterator[Doubt]:
        """Values that the plan left open and that stand elsewhere, or earlier, in a person's
        words.
        """
        if len(self._bound) == len(self._args):
            return
        where = [*clauses(self.origins.deciding_words)]
        if len(where) == 1:
            return
        values = [(name, each) for name, value in self._args.items() for each in leaves(value)]
        crossed, is_first = crossed_in(values, where), len(self.origins.deciding_words) == 1
        for name, each in values:
            if name in self._bound or (is_first and not crossed):
                continue
            if not is_first and is_overruled(self.origins, each):
                yield Doubt(name, (each,), EARLIER)
            elif (name, each) in crossed:
                yield Doubt(name, (each,), CROSSED)

    def _left_out(self) -> Iterator[Doubt]:
        """Arguments that the request asks for, and that are empty."""
        content, words = self.tool.labels.content, self.origins.deciding_words
        for name in properties(self.tool.parameters):
            if name in self._bound or name in content or self._args.get(name):
                continue
            if is_asked_for(self.tool, name, words):
                yield Doubt(name, (), LEFT_OUT)

    def _is_addressed(self, name: str, value: Json) -> bool:
        """Whether it is what a card has beside an address, where an address is wanted."""
        if not self.origins.cards or not wants_address(name):
            return False
        folded = str(value).casefold()
        return any(folded in it.others for it in self.origins.cards)

    def _is_other_card(self, value: Json) -> bool:
        """Whether it is an address of one of several cards, and the request does not say which."""
        own = [it for it in self.origins.cards if value in it.addresses]
        if self.planned is None or not own:
            return False
        tool, sent = own[0].tool, {*map(str, leaves({**self._args}))}
        others = [
            it
            for it in self.origins.cards
            if it.tool == tool and value not in it.addresses and sent.isdisjoint(it.addresses)
        ]
        calls = [it for it in self.origins.planned or () if it.tool == self.tool.name]
        if len(calls) > len(others):
            return False
        bound = [it.casefold() for it in leaves({**self._bound}) if isinstance(it, str) and it]
        for clause in clauses(self.origins.deciding_words):
            is_named = any(stands_in(it, clause) for card in own for it in card.others)
            is_other = any(stands_in(it, clause) for card in others for it in card.others)
            if is_named and not is_other and any(it in clause for it in bound):
                return False
        return True

    def _known(self, name: str, value: Json) -> str | None:
        if self._is_addressed(name, value) or self._is_other_card(value):
            return None
        if is_choice(value) or (self._bound and value in self._choices(name)):
            return None
        source = self.origins.of(value, verbatim=not self._bound, even_carried=False)
        if source in _BY_READING and not self._is_understood:
            return None
        if is_number(value):
            return source if self._is_amount(name, float(value), source) else None
        if source is None:
            return self._follows(name, value)
        if self.origins.is_one_of_several(value, self._source[0]):
            return None
        return source if self._is_in_role(name, value) and self._is_own_day(name, value) else None

    def _follows(self, name: str, value: Json) -> str | None:
        """How a value follows from a person's words that do not have it, or None."""
        if self._ends(name, value):
            return COMPUTED_END
        if self.planned is not None and self._is_open_time(value):
            return OPEN_TIME
        return self.origins.selected(name, value, only_fetched=self._only_fetches)

    def _is_open_time(self, value: Json) -> bool:
        """Whether a person named the day alone, and no untrusted text has the time."""
        if not isinstance(value, str):
            return False
        is_open = is_left_open(value, self.tool.name, self.origins.deciding_words)
        return is_open and not self.origins.untrusted.has_word(value[_DAY_ALONE + 1 :][:5])

    def _is_own_day(self, name: str, value: Json) -> bool:
        """Whether a day stands in one argument only, as it does in a person's words."""
        if not (isinstance(value, str) and is_day(value)) or len(value) > _DAY_ALONE:
            return True
        others = (each for key, each in self._args.items() if key != name)
        return value not in others or self.origins.names_twice(value)

    def _is_amount(self, name: str, number: float, source: str | None) -> bool:
        """Whether a number may stand in this argument: one place in a request gives one value."""
        if source is None:
            is_time = any(part in name.casefold() for part in _PARTS_OF_TIME)
            return is_time and self.origins.numbers.is_dated(number)
        if source != PERSON or not self.origins.numbers.is_spoken_once(number):
            return True
        others = (each for key, each in self._args.items() if key != name)
        return not any(_is_number_like(each, number) for it in others for each in leaves(it))

    def _ends(self, name: str, value: Json) -> bool:
        """Whether it is the end of something that begins at a known time, and lasts as was said."""
        if "end" not in name or not isinstance(value, str):
            return False
        start = self._args.get(name.replace("end", "start"))
        if not isinstance(start, str) or self.origin(name.replace("end", "start"), start) is None:
            return False
        return any(lasts(start, value, words) for words in self.origins.words)

    def _is_in_role(self, name: str, value: Json) -> bool:
        """Whether a value may stand in this argument, by the fields of results that gave it."""
        fields = self.origins.fields_of(value)
        return not fields or any(self._fits(name, field, tool) for field, tool in fields)

    def _fits(self, name: str, field: str, source: str) -> bool:
        if field in self.tool.labels.content and field != name:
            return False
        kind = _ID.fullmatch(name)
        if kind is None or field not in {"id", "id_"} or kind[1] in source:
            return True
        return not any(kind[1] in other for other in self.origins.tools if other != self.tool.name)


def _is_number_like(value: Json, number: float) -> bool:
    if is_number(value):
        return float(value) == number
    try:
        return isinstance(value, str) and float(value) == number
    except ValueError:
        return False


def sentence_of(doubts: Sequence[Doubt]) -> str:
    """All doubts in a line."""
    return "; ".join(map(str, doubts))


__all__ = ["CONFIG", "Doubt", "Judgement", "sentence_of"]
