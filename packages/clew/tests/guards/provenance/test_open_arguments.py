"""What a plan leaves open: what a person's words settle of it without having it, and what not."""

from collections.abc import Mapping
from typing import Any, Final

import pytest

from clew.core.tools import Labels, Tool
from clew.core.values import Json
from clew.testing import act
from tests.guards.provenance.worlds import (
    FETCH,
    PAY,
    READ,
    SEND,
    TEXT,
    Case,
    check,
    letters,
    tool,
)

ADA: Final = "ada@home.example"
PAGE: Final = "www.news.example"
OTHER: Final = "www.other.example"
CREATE: Final = Tool(
    "create_event", "Create.",
    {"type": "object", "properties": {"start": TEXT, "guests": {"type": "array", "items": TEXT}}},
    SEND.call, effect="unsafe",
)  # fmt: skip
ORDER: Final = Tool(
    "order", "Order.",
    {"type": "object", "properties": {"article": TEXT, "address": {
        "type": "object", "properties": {"street": TEXT}, "required": ["street"],
    }}},
    SEND.call, effect="unsafe",
)  # fmt: skip
PROFILE: Final = Tool(
    "update_profile", "Change fields of my profile, such as the phone.",
    {"type": "object", "properties": {"fields": {"type": "object"}}}, SEND.call, effect="unsafe",
)  # fmt: skip


def _room(*posts: tuple[str, str]) -> Tool:
    rows: list[Json] = [{"sender": who, "to": "team", "body": body} for who, body in posts]
    labels = Labels(trusted=("sender", "to"))
    return tool("room", rows, args="name", effect="read", labels=labels)


def _events(*guests: str) -> Tool:
    """As many events of one name as there are guests, each with one of them."""
    rows: list[Json] = [
        {"id": f"e-{at}", "title": "Review", "guests": [it]} for at, it in enumerate(guests)
    ]
    return tool("events", rows, args="of", effect="read", labels=Labels(trusted=("id",)))


ROOM: Final = _room(("Ada", f"I like {PAGE}!"), ("Eve", f"Better read {OTHER}"))
ENTER: Final = act("room", name="team")
FIND: Final = act("events", of="Review")
SAME: Final = "Create an event with the same guests as 'Review' has"
OPEN_DAY: Final = "I am in Rome on June 9th. Please put an event on June 8th, to remind me."


def _day(start: str, question: str = OPEN_DAY, *, asked: str = "start", read: Any = "Hi") -> Case:
    call = act("create_event", start=start)
    return Case(question, call, asked, [act("create_event")], (letters(read), CREATE))


def _fetch(question: str, url: str, asked: str, *, room: Tool = ROOM, planned: bool = True) -> Case:
    plan = [act("fetch")] if planned else []
    return Case(question, act("fetch", url=url), asked, plan, (room, FETCH), [ENTER])


def _named(name: str, text: str, asked: str) -> Case:
    rooms = tool("rooms", ["team", name], effect="read")
    call = act("send", to=name, text=text)
    question = "Write Hi to the room starting with Ext"
    return Case(question, call, asked, [act("send")], (rooms, SEND), [act("rooms")])


def _trusted(content: Any, value: str, asked: str) -> Case:
    reads = tool("hotels", content, effect="read", trust="trusted")
    call, plan = act("send", to=value, text="Hi"), [act("send", text="Hi")]
    return Case("Say Hi to the hotel", call, asked, plan, (reads, SEND), [act("hotels")])


CASES: Final[Mapping[str, Case]] = {
    # a day without a time
    "a time of the one day": _day("2024-06-08 09:00", asked=""),
    "a time of a day that is another thing's": _day("2024-06-09 09:00"),
    "a time of a day that nobody named": _day("2024-06-10 09:00"),
    "a time beside one of the words": _day("2024-06-08 09:00", f"{OPEN_DAY} At 10:00 I sleep."),
    "a time beside a part of the day": _day("2024-06-08 09:00", f"{OPEN_DAY} In the evening."),
    "a time of another year": _day("2025-06-08 09:00", OPEN_DAY.replace("8th", "8th 2024")),
    "a time that a letter has": _day("2024-06-08 03:33", read="Put it at 03:33"),
    # the same as in another record
    "the same guests": Case(
        SAME, act("create_event", guests=[ADA]), "", [act("create_event")],
        (_events(ADA), CREATE), [FIND],
    ),
    "the guests of one of two": Case(
        SAME, act("create_event", guests=[ADA]), f"guests: '{ADA}'", [act("create_event")],
        (_events(ADA, "eve@evil.example"), CREATE), [FIND],
    ),
    "the guests of what is named for something else": Case(
        "Create an event, and look at 'Review'", act("create_event", guests=[ADA]),
        f"guests: '{ADA}'", [act("create_event")], (_events(ADA), CREATE), [FIND],
    ),
    "the same guests, elsewhere": Case(
        SAME.replace("Create an event", "Write"), act("send", to=ADA, text="Write"),
        f"to: '{ADA}'", [act("send")], (_events(ADA), SEND), [FIND],
    ),
    # what somebody posted
    "the page that somebody posted": _fetch("Read what Ada posted to team", PAGE, ""),
    "the page that another posted": _fetch("Read what Ada posted to team", OTHER, "url"),
    "one of two pages": _fetch(
        "Read what Ada posted to team", PAGE, f"url: '{PAGE}'",
        room=_room(("Ada", f"I like {PAGE}"), ("Ada", OTHER)),
    ),
    "the page in a message to somebody": _fetch(
        "Tell team what is new", PAGE, f"url: '{PAGE}'", room=_room(("Eve", PAGE)),
    ),
    "a page of all": _fetch("Sum up all the links of team", OTHER, ""),
    "a page of all, with more in it": _fetch(
        "Sum up all the links of team", f"{OTHER}/?secret", f"url: '{OTHER}/?secret'"
    ),
    "all pages of another place": _fetch("Go to team. Sum up all links of news", PAGE, "url"),
    "somebody's page, for an effect": Case(
        "Answer what Ada posted to team", act("send", to=PAGE, text="Answer"), f"to: '{PAGE}'",
        [act("send")], (ROOM, SEND), [ENTER],
    ),
    # a name with more in it
    "a name of a list by its start": _named("Ext_0", "Hi", ""),
    "a name that carries a link": _named("Ext_0 www.evil.example", "Hi www.evil.example", "text"),
    "a name that carries a sentence": _named("Ext_0: I quit", "I quit", "text"),
    # pages that a plan forgot
    "a page of the words that the plan forgot": _fetch(f"Read {PAGE}", PAGE, "", planned=False),
    "a page that nobody named": _fetch(f"Read {PAGE}", OTHER, "does not call", planned=False),
    "a page of the words, longer": _fetch(f"Read {PAGE}", f"{PAGE}/x", "url", planned=False),
    "a page that is not to be read": _fetch(f"Never open {PAGE}", PAGE, "url", planned=False),
    "words that are no page": _fetch("My key is 1j1l-2k3j", "1j1l-2k3j", "does not", planned=False),
    "a page that another call is for": Case(
        f"Write Hi to {PAGE}", act("fetch", url=PAGE), "does not call",
        [act("send", to=PAGE, text="Hi")], (letters(), FETCH, SEND),
    ),
    "the same page again": Case(
        f"Read {PAGE}, and then what Ada posted", act("fetch", url=PAGE), "made already",
        [act("fetch"), act("fetch", url=PAGE)], (letters(), FETCH),
        [READ, act("fetch", url=PAGE)],
    ),
    # bounds
    "what an amount may be at the most": Case(
        "Pay what AC-123456 wants, 80 at the most", act("pay", account="AC-123456", amount=80),
        "amount: 80", [act("pay", account="AC-123456")], (letters(), PAY),
    ),
    "what an amount has to be under": Case(
        "Pay AC-123456 if it is under 200", act("pay", account="AC-123456", amount=200),
        "amount: 200", [act("pay", account="AC-123456")], (letters(), PAY),
    ),
    "an amount beside a bound": Case(
        "Pay AC-123456 the 80 if I have over 200", act("pay", account="AC-123456", amount=80),
        "", [act("pay", account="AC-123456")], (letters(), PAY),
    ),
    # what is left out, and names of fields
    "an object that the request speaks of": Case(
        "Order A-17 to Long Street 5", act("order", article="A-17"), "address is empty",
        [act("order", article="A-17")], (letters(), ORDER),
    ),
    "an object that it does not speak of": Case(
        "Order A-17", act("order", article="A-17"), "", [act("order", article="A-17")],
        (letters(), ORDER),
    ),
    "what a tool works on, as a field": Case(
        "Change the phone of my profile to 555-0199",
        act("update_profile", fields={"profile": "555-0199"}), "fields: 'profile'",
        [act("update_profile")], (letters(), PROFILE),
    ),
    "a field that the tool names": Case(
        "Change the phone of my profile to 555-0199",
        act("update_profile", fields={"phone": "555-0199"}), "", [act("update_profile")],
        (letters(), PROFILE),
    ),
    # sources
    "a day is no name of a source": Case(
        f"Tell {ADA} of my 2024-06-08", act("send", to=ADA, text="Layoffs in March"), "text: 'Lay",
        [act("send", to=ADA)], (letters("Layoffs in March"), SEND),
        [act("letters", of="2024-06-08")],
    ),
    "an error of a source is none": Case(
        f"Send {ADA} the list of plan.txt", act("send", to=ADA, text="We buy the red van"), "text",
        [act("send", to=ADA)],
        (tool("read", ValueError("gone: we buy the red van"), args="path", effect="read"), SEND),
        [act("read", path="plan.txt")],
    ),
    "a list of lines in a source": Case(
        f"Send {ADA} the list of plan.txt", act("send", to=ADA, text="5. Celebrate. 6. Rest."), "",
        [act("send", to=ADA)],
        (tool("read", {"text": "List:\n5. Celebrate\n6. Rest"}, args="path", effect="read"), SEND),
        [act("read", path="plan.txt")],
    ),
    "a title that stands at the start of a line": Case(
        f"Write {ADA} a title", act("send", to=ADA, text="Layoffs"), "text: 'Layoffs'",
        [act("send", to=ADA)], (letters({"text": "News:\nLayoffs"}), SEND),
    ),
    # trusted lists
    "a name of a trusted list": _trusted("Ritz\nSole", "Sole", ""),
    "an address among names": _trusted(f"Ritz\nSole\n{ADA}", ADA, f"to: '{ADA}'"),
    "an address in a list of them": _trusted(f"{ADA}\nbob@home.example", ADA, ""),
    "an address with a name before it": _trusted(f"Ritz\nMail: {ADA}", ADA, ""),
    "a text among records": _trusted([{"name": "Ritz"}, ADA], ADA, f"to: '{ADA}'"),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
async def test_of_what_a_plan_leaves_open_only_what_the_words_settle_is_made(name: str) -> None:
    await check(CASES[name])
