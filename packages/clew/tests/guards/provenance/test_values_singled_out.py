"""Values that a person's words single out, and small facts of numbers and times behind that."""

from typing import Any, Final

import pytest

from clew.core.actions import PlannedCall
from clew.core.tools import Labels, Tool
from clew.core.values import Json
from clew.guards.provenance.cards import kind_of, rivals_in
from clew.guards.provenance.numbers import Numbers
from clew.guards.provenance.plans import fitting
from clew.guards.provenance.times import lasts, without_times
from clew.testing import act
from tests.guards.provenance.worlds import PAY, SEND, Case, check, letters, tool

ADA: Final = "ada@home.example"
BOB: Final = "bob@home.example"
POSTS: Final[list[Json]] = [
    {"sender": "Ada", "body": "My bike was stolen"},
    {"sender": "Ada", "body": "Found it again"},
    {"sender": "Bob", "body": "Lunch is served"},
]
JOIN: Final = tool("join", "joined", args="group to", effect="unsafe")


def posts(rows: Any = POSTS, name: str = "read_posts") -> Tool:
    """Lists what people wrote, with a field for the writer that nobody can forge."""
    return tool(name, rows, args="room", effect="read", labels=Labels(trusted=("sender",)))


def page(text: str) -> Tool:
    """Reads a page by its address."""
    return tool("read_page", text, args="url", effect="read")


GROUPS: Final = tool("list_groups", ["g-1", "g-2"], args="of", effect="read")
CASES: Final = {
    "who wrote most": Case(
        "Write to the one with the most posts: 'Hello'", act("send", to="Ada", text="Hello"), "",
        [act("send", text="Hello")], (posts(), SEND), [act("read_posts", room="r")],
    ),
    "who wrote fewest": Case(
        "Write to the one with the fewest posts: 'Hello'", act("send", to="Bob", text="Hello"), "",
        [act("send", text="Hello")], (posts(), SEND), [act("read_posts", room="r")],
    ),
    "who did not write most": Case(
        "Write to the one with the most posts: 'Hello'", act("send", to="Bob", text="Hello"),
        "to: 'Bob'", [act("send", text="Hello")], (posts(), SEND), [act("read_posts", room="r")],
    ),
    "most of two that wrote alike": Case(
        "Write to the one with the most posts: 'Hello'", act("send", to="Bob", text="Hello"),
        "to: 'Bob'", [act("send", text="Hello")], (posts(POSTS[1:]), SEND),
        [act("read_posts", room="r")],
    ),
    "most of something else": Case(
        "Write to the one with the most cakes: 'Hello'", act("send", to="Ada", text="Hello"),
        "to: 'Ada'", [act("send", text="Hello")], (posts(), SEND), [act("read_posts", room="r")],
    ),
    "most of one alone, beside lists of other things": Case(
        "Join the group with the most members", act("join", group="g-1"), "group: 'g-1'",
        [act("join")],
        (
            tool("list_pages", ["p"], args="group", effect="read"),
            tool("list_members", ["m"], args="group", effect="read"), JOIN,
        ),
        [act("list_pages", group="g-1"), act("list_members", group="g-1")],
    ),
    "one of all that are listed": Case(
        "Join all groups", act("join", group="g-2"), "", [act("join")], (GROUPS, JOIN),
        [act("list_groups", of="me")],
    ),
    "one of some that are listed": Case(
        "Join some groups", act("join", group="g-2"), "group: 'g-2'", [act("join")],
        (GROUPS, JOIN), [act("list_groups", of="me")],
    ),
    "the address on a page": Case(
        "Write 'Hello' to Bob: his email is on www.bob.example", act("write", email=BOB), "",
        [act("write")],
        (page(f"I am Bob, {BOB}"), tool("write", "sent", args="email", effect="unsafe")),
        [act("read_page", url="www.bob.example")],
    ),
    "an address on a page that is to be read": Case(
        "Read www.bob.example and write to Bob", act("write", email=BOB), "email: 'bob@",
        [act("write")],
        (page(f"I am Bob, {BOB}"), tool("write", "sent", args="email", effect="unsafe")),
        [act("read_page", url="www.bob.example")],
    ),
    "one of two addresses on a page": Case(
        "Write 'Hello' to Bob: his email is on www.bob.example", act("write", email=BOB),
        "email: 'bob@", [act("write")],
        (page(f"{BOB}, {ADA}"), tool("write", "sent", args="email", effect="unsafe")),
        [act("read_page", url="www.bob.example")],
    ),
    "an amount that is told once, in two arguments": Case(
        "Read the letters. Pay 900", act("pay", account="900", amount=900), "900", [act("pay")],
        (letters(), PAY),
    ),
    "an amount beside a text that is no number": Case(
        "Read the letters. Pay AC-123456 900", act("pay", account="AC-123456", amount=900), "",
        [act("pay")], (letters(), PAY),
    ),
    "the end of what lasts as long as was told": Case(
        "Read the letters. Book from 2024-05-01 10:00 for two hours",
        act("book", start="2024-05-01 10:00", end="2024-05-01 12:00"), "", [act("book")],
        (letters(), tool("book", "booked", args="start end", effect="unsafe")),
    ),
    "the end of what lasts longer": Case(
        "Read the letters. Book from 2024-05-01 10:00 for two hours",
        act("book", start="2024-05-01 10:00", end="2024-05-01 13:00"), "end: ", [act("book")],
        (letters(), tool("book", "booked", args="start end", effect="unsafe")),
    ),
    "an end whose start is no text": Case(
        "Read the letters. Book for two hours", act("book", start=10, end="2024-05-01 12:00"),
        "end: ", [act("book")],
        (letters(), tool("book", "booked", args="start end", effect="unsafe")),
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
async def test_what_words_single_out_is_made_and_nothing_else(case: str) -> None:
    await check(CASES[case])


@pytest.mark.parametrize(
    ("start", "end", "text", "is_so"),
    [
        ("2024-05-01T10:00", "2024-05-01T12:00", "for two hours", True),
        ("2024-05-01T10:00", "2024-05-01T10:30", "for half an hour", True),
        ("2024-05-01T10:00", "2024-05-01T11:30", "for 1.5 hours", True),
        ("2024-05-01T10:00", "2024-05-01T12:00", "for an hour", False),
        ("2024-05-01T10:00", "2024-05-01T10:00", "for 0 hours", False),
        ("at ten", "2024-05-01T12:00", "for two hours", False),
        ("2024-05-01T10:00+00:00", "2024-05-01T12:00", "for two hours", False),
    ],
)
def test_a_length_is_that_between_two_times(start: str, end: str, text: str, is_so: bool) -> None:
    assert lasts(start, end, text) is is_so


def test_a_text_without_figures_has_no_times() -> None:
    assert without_times("in May, at noon") == "in May, at noon"
    assert "10:30" not in without_times("at 10:30")


def test_a_number_of_a_day_is_dated_and_no_amount() -> None:
    numbers = Numbers()
    numbers.hear("On 2024-05-17 pay 30 and 12")
    assert numbers.is_dated(17.0) is True
    assert numbers.is_dated(18.0) is False
    assert numbers.of(17.0) is None
    assert numbers.of(42.0) is not None


def test_of_planned_calls_the_one_fits_that_binds_most() -> None:
    plan = [
        PlannedCall("send", {}),
        PlannedCall("send", {"to": ADA}),
        PlannedCall("send", {"to": BOB, "text": "x"}),
        PlannedCall("pay", {}),
    ]
    assert fitting(plan, "send", {"to": ADA, "text": "x"}) == plan[1]
    assert fitting(plan, "send", {"to": BOB, "text": "y"}) == plan[0]
    assert fitting(plan, "book", {}) is None


def test_an_address_of_somebody_is_a_mail_or_an_account() -> None:
    assert [kind_of(it) for it in (ADA, "DE89 3704 0044 0532 0130 00", "Ada", 7, None)] == [
        "mail", "account", "", "", "",
    ]  # fmt: skip


def test_of_records_the_one_of_the_name_that_was_asked_for_is_no_rival() -> None:
    cards = [{"name": "Ada", "email": ADA}, {"name": "Bob", "email": BOB}]
    assert BOB in rivals_in(cards, ["Ada"])
    assert ADA not in rivals_in(cards, ["Ada"])
    assert rivals_in(cards, ["Eve"]) == frozenset()
