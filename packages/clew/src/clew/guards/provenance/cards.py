"""Results of trusted tools that may have been poisoned: which address in a record is its own.

A record has one address of a kind: where it has several, the one in the field that is named for it
counts, as `email` does, and not one in a note, a list or an object within.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from clew.core.values import Json
from clew.guards.provenance.records import Record
from clew.guards.provenance.values import is_key, leaves

_MAIL: Final = re.compile(r"[^\s@,;]+@[^\s@,;]+\.\w+")
_ACCOUNT: Final = re.compile(r"[A-Z]{2}\d{2}[A-Z0-9]{10,30}", re.IGNORECASE)
_OWN_FIELDS: Final = {
    "mail": ("email", "e_mail", "mail", "address", "email_address"),
    "account": ("iban", "account", "account_number", "number"),
}
_RECIPIENTS: Final = re.compile(
    r"(?:^|_)(?:to|b?cc|(?:recipient|guest|participant|attendee|invitee|person|e?mail)s?|people)"
    r"(?:_|$)",
    re.IGNORECASE,
)
"""The name of an argument that wants an address of somebody."""
_NAMES: Final = ("name", "title", "full_name")


@dataclass(frozen=True)
class Card:
    """A record of a trusted tool about somebody: their addresses, and what else it has."""

    tool: str
    addresses: frozenset[str]
    others: frozenset[str]
    """Casefolded."""


def kind_of(value: Json) -> str:
    """Whether a value is an address that something can be sent to, and which; "" if none."""
    if not isinstance(value, str):
        return ""
    if "@" in value:  # no account has that
        return "mail" if _MAIL.fullmatch(value) else ""
    plain = value.replace(" ", "")
    return "account" if plain[2:4].isdigit() and _ACCOUNT.fullmatch(plain) else ""


def wants_address(argument: str) -> bool:
    """Whether an argument says by its name that it wants an address of somebody."""
    return _RECIPIENTS.search(argument) is not None


def card_of(tool: str, records: Sequence[Record], rivals: frozenset[str]) -> Card | None:
    """A result that is one record with an address, as a card."""
    if len(records) != 1:
        return None
    texts = [it for it in leaves(records[0]) if isinstance(it, str)]
    addresses = frozenset(it for it in texts if kind_of(it) and it not in rivals)
    others = frozenset(it.casefold() for it in texts if not kind_of(it))
    return Card(tool, addresses, others) if addresses else None


def rivals_in(records: Sequence[Record], asked: Sequence[str]) -> frozenset[str]:
    """Values of a trusted result that are not known for it: somebody may have added them."""
    return frozenset([*_of_others(records, asked), *(it for r in records for it in _within(r))])


def is_field_name(name: str) -> bool:
    """Whether the name of a field can be a value: an address or a number is none of a field."""
    return not kind_of(name) and not is_key(name)


def _of_others(records: Sequence[Record], asked: Sequence[str]) -> Iterator[str]:
    """Addresses in records beside the one that was asked for by its name, or in two of the name."""
    if len(records) < 2 or not asked:
        return
    names = {it.casefold() for it in asked}
    named = [it for it in records if _name_of(it) in names]
    if not named:
        return
    own = {*_addresses(named[0])} if len(named) == 1 else set[str]()
    yield from (it for record in records for it in _addresses(record) if it not in own)


def _name_of(record: Record) -> str:
    return next((it.casefold() for key in _NAMES if isinstance(it := record.get(key), str)), "")


def _addresses(value: Json) -> Iterator[str]:
    yield from (it for it in leaves(value) if isinstance(it, str) and kind_of(it))


def _within(record: Record) -> Iterator[str]:
    """The addresses of a record that another of the kind outdoes, or all that are as good."""
    pairs = [(name, it) for name, value in record.items() for it in _addresses(value)]
    for kind, fields in _OWN_FIELDS.items():
        named = [(name, it) for name, it in pairs if kind_of(it) == kind]
        distinct = {it for _, it in named}
        if len(distinct) < 2 or len({name for name, _ in named}) == 1:
            continue
        texts = [it for name in fields if isinstance(it := record.get(name), str)]
        own = distinct.intersection(texts)
        yield from distinct - (own if len(own) == 1 else set())
