"""Recorded native conversations through clew's own loop: compared, replayed, cut everywhere."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

import anyio

import clew
from recordings.data import records
from recordings.forms import Record
from recordings.native_checks import Checked, check
from recordings.native_cuts import Cuts, cut, cut_in_effects
from recordings.native_drive import RUN, drive
from recordings.native_talks import Talk, talk
from recordings.part import Figure, Judging, Part, count

REPLAYS: Final = 10
"""Every so-manieth cut record that was gone on with is replayed as well."""
EFFECTS: Final = 5
"""After every so-manieth attempt of an unsafe call the record is cut."""

TEXT: Final = f"""\
Customer-service conversations with native tool calls (gpt-4o, gpt-4.1 and a tuned one, qwen2.5:7b,
an orchestrator), with their own tool lists. A scripted model gives the recorded replies through
`run`, the person's messages follow through `resume(say=…)`, and the tools give what was observed,
the last call of a reply first. Compared with the recording: names, arguments and observations of
each call, and the last prompt, message by message. Texts that a harness put in itself are no
replies, and clew's own reminders are left out of the prompt; of replies that the harness refused,
only clew's reading is checked. A call that its own definition forbids, by a reader independent of
clew, must be refused.

Then every record is cut after each entry and continued. With `idempotent` tools it must end the
same (but for attempts and the order in which calls of a reply end), with no recorded call made
again; every {REPLAYS}th is replayed. With `unsafe` tools, cut after every {EFFECTS}th attempt, the
call must not be made again, the model must be told, and nothing else may change. Tools beyond those
that clew shows at once are hidden, and answer all the same.
"""


@dataclass
class NativeTally:
    """What was counted over all conversations."""

    checked: Checked = field(default_factory=Checked)
    cuts: Cuts = field(default_factory=Cuts)
    replayed: int = 0
    turns: int = 0
    judging: Judging = field(default_factory=Judging)


def measure(sample: int) -> Part:
    """Every nth conversation."""
    return anyio.run(measured, records("talks", sample=sample))


async def measured(recorded: Iterable[Record]) -> Part:
    """The same for any conversations, on the event loop that is there."""
    tally = NativeTally()
    for one in recorded:
        with tally.judging.one(one.get("id")):
            await follow(talk(one), tally)
            tally.turns += len(one["turns"])
    checked, cuts = tally.checked, tally.cuts
    return Part(
        "Native runs: driven, cut everywhere, replayed",
        TEXT,
        [*_compared(tally), *_cut(cuts), *_met(checked), *tally.judging.figures()],
        [*tally.judging.misses, *checked.misses, *checked.differences, *cuts.misses],
        compared=tally.turns,
        finding="conversations survive a crash after any entry; no unsafe call is made twice",
        lead=(
            "calls with name, arguments and observation as recorded",
            "cuts, after every entry, that end the same",
            "cuts in unsafe calls: never made again, told, nothing else changed",
        ),
    )


async def follow(one: Talk, tally: NativeTally) -> None:
    """Drive a conversation, compare it, replay it and cut it."""
    store = clew.MemoryStore()
    driven = await drive(one, store, "idempotent")
    check(driven, tally.checked)
    replayed = await clew.replay(driven.agent, RUN, store=store)
    tally.replayed += not replayed.passed_over
    await cut(driven, range(1, len(driven.lines)), tally.cuts, replays=REPLAYS)
    await cut_in_effects(await drive(one, clew.MemoryStore(), "unsafe"), EFFECTS, tally.cuts)


def _compared(tally: NativeTally) -> list[Figure]:
    checked = tally.checked
    calls, valid, talks = checked.calls, checked.valid, checked.talks
    listed = calls - checked.aside
    agreeing = talks - checked.apart
    return [
        Figure("conversations and the calls in them", f"{talks:,}", f"{calls:,} calls"),
        count("calls of listed tools that their schemas allow", valid, listed, exactly=listed),
        count("calls that their own schemas forbid, refused", checked.forbidden, calls),
        count("calls of tools that are not in the recorded list", checked.unlisted, calls),
        count(
            "calls written as text, which their harness took for answers", checked.written, calls
        ),
        count(
            "calls sent again under the id of an earlier one, told of its result",
            checked.again,
            calls,
        ),
        count("calls made, each once", checked.once, valid, exactly=valid),
        count(
            "calls with name, arguments and observation as recorded",
            checked.same,
            valid,
            exactly=valid,
        ),
        count(
            "last prompts that are the recorded conversation",
            checked.prompts,
            agreeing,
            exactly=agreeing,
        ),
        Figure(
            "clew's own reminders in these prompts, which no recording has",
            f"{checked.reminders:,}",
            f"{talks:,} conversations",
        ),
        *_refused(checked),
        count("replays byte-equal", tally.replayed, talks, exactly=talks),
    ]


def _refused(checked: Checked) -> Iterator[Figure]:
    """What the harness of the recordings refused; a sample may hold none of it."""
    if checked.beside:
        yield count(
            "replies with text and calls that the harness refused, taken whole",
            checked.taken,
            checked.beside,
            exactly=checked.beside,
        )
    if checked.empty:
        yield count(
            "empty replies that the harness refused, a fault",
            checked.faults,
            checked.empty,
            exactly=checked.empty,
        )


def _cut(cuts: Cuts) -> list[Figure]:
    return [
        count(
            "cuts, after every entry, that end the same", cuts.same, cuts.made, exactly=cuts.made
        ),
        Figure("of those, replayed byte-equal", f"{cuts.replayed:,}", f"every {REPLAYS}th"),
        count(
            "cuts in unsafe calls: never made again, told, nothing else changed",
            cuts.never_again,
            cuts.doubts,
            exactly=cuts.doubts,
        ),
    ]


def _met(checked: Checked) -> list[Figure]:
    """What a runtime may trip over; all of it is in the figures above."""
    met = checked.met
    return [
        count(
            "met: conversations in which a provider's call id comes again",
            met["talks with ids again"],
            checked.talks,
        ),
        count(
            "met: call ids that come again, for another call",
            met["ids again for another call"],
            met["ids again"],
        ),
        count(
            "met: calls made again, with another result",
            met["calls again, another result"],
            met["calls again"],
        ),
        Figure(
            "met: replies with several calls",
            f"{met['several calls']:,}",
            f"up to {met['most calls']} in one",
        ),
        Figure(
            "met: replies with text beside a call",
            f"{met['text beside a call']:,}",
            f"{met['replies with calls']:,} replies with calls",
        ),
    ]
