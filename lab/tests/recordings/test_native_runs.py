"""Native conversations: as recorded in record and prompt, cut everywhere, never done twice."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import clew
from clew.agent.validate import MAX_TOOLS
from clew.core.contents import Reply
from recordings import native_runs
from recordings.data import VARIABLE, document, folder, missing
from recordings.native_checks import expected, told
from recordings.native_cuts import Cuts, cut, cut_in_effects
from recordings.native_drive import Driven, drive
from recordings.native_rejected import printed
from recordings.native_talks import NOBODY, Talk, talk
from recordings.part import Part
from recordings.report import failures
from tests.recordings import talks as own
from tests.recordings.figures import figures

HERE, WHY_NOT = folder(), missing()
"""Where the recordings lie, taken before a test loses the variables of its environment."""


@pytest.fixture
def recordings_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    document.cache_clear()
    own.written(tmp_path, own.TALKS)
    yield tmp_path
    document.cache_clear()


async def driven(record: own.Record) -> Driven:
    return await drive(talk(record), clew.MemoryStore(), "idempotent")


def test_what_a_harness_said_is_no_reply(recordings_path: Path) -> None:
    read = talk(own.GREETED)
    assert read.goal == "Water the beds, please."
    assert [turn.reply.text for turn in read.turns][:2] == ["Which ones?", "I look for them."]
    assert read.words == ["The two by the wall.", "So it does."]
    assert talk(own.ALONE).goal == "Bed 1 is dry."
    assert talk(own.WRONG).goal == "The beds want water."
    assert talk(own.TALKS[4]).words == [NOBODY]


async def test_the_last_prompt_is_the_recorded_conversation(recordings_path: Path) -> None:
    messages = list(told((await driven(own.GREETED)).prompt))
    assert messages == list(expected(talk(own.GREETED)))
    roles = ["user", "assistant", "user", "assistant", "tool", "assistant", "tool", "tool", "tool"]
    assert [message[0] for message in messages][:9] == roles
    assert [message[1] for message in messages if message[0] == "tool"] == [
        "beds 3 and 4", "watered", "Error: there is no bed 9", "watered", "cloudy", "raining",
    ]  # fmt: skip
    assert [message[3] for message in messages if message[0] == "tool"] == [*"aabcde"]


def test_what_a_harness_refused_is_read_off_its_complaint() -> None:
    reply = printed(own.COMPLAINT)
    assert reply.text == "I water both beds.\n\nThen I look for more."
    assert [(call.name, call.id) for call in reply.calls] == [("water", "r1"), ("find_bed", "r2")]
    assert json.loads(reply.calls[1].arguments or "") == {"name": "cost: none"}
    assert printed(own.NOTHING_SENT) == Reply()


async def test_calls_of_one_reply_end_in_another_order_and_stand_in_their_own(
    recordings_path: Path,
) -> None:
    trajectory = (await driven(own.GREETED)).trajectory
    ended = [e.event.call for e in trajectory.entries if isinstance(e.event, clew.Observation)]
    assert ended[1:4] != sorted(ended[1:4])
    assert [call.key for call in trajectory.calls][1:4] == sorted(ended[1:4])


async def test_tools_beyond_the_most_are_hidden_and_answer(recordings_path: Path) -> None:
    tally = await driven(own.TALKS[5])
    assert sum(not tool.hidden for tool in tally.agent.tools) == MAX_TOOLS
    assert tally.world.made == {"1.1": 1}


def test_all_kinds_of_conversations_come_out_as_recorded(recordings_path: Path) -> None:
    part = native_runs.measure(1)
    assert part.met, list(failures([part]))
    part_figures = figures(part)
    assert part_figures["calls of listed tools that their schemas allow"] == ("11", "11", True)
    assert part_figures["calls of tools that are not in the recorded list"] == ("1", "12", True)
    assert part_figures["last prompts that are the recorded conversation"] == ("6", "6", True)
    refused = "replies with text and calls that the harness refused, taken whole"
    assert part_figures[refused] == ("1", "1", True)
    assert part_figures["empty replies that the harness refused, a fault"] == ("1", "1", True)
    assert part_figures["met: conversations in which a provider's call id comes again"][0] == "1"
    assert part_figures["met: call ids that come again, for another call"] == ("1", "1", True)
    assert part_figures["met: calls made again, with another result"] == ("1", "1", True)
    assert part_figures["met: replies with several calls"][:2] == ("1", "up to 3 in one")
    assert part_figures["met: replies with text beside a call"][0] == "1"
    assert [miss.partition(":")[0] for miss in part.misses] == ["alone, call 3.1"]
    made = part_figures["cuts, after every entry, that end the same"]
    assert made[0] == made[1] != "0"
    assert part_figures["cuts in unsafe calls: never made again, told, nothing else changed"][2]


async def followed(*records: own.Record) -> Part:
    return await native_runs.measured(records)


MISSES = [
    (own.OTHERWISE, "other arguments", "calls with name, arguments and observation as recorded"),
    (own.UNSEEN, "no such call", "calls with name, arguments and observation as recorded"),
]


@pytest.mark.parametrize(("record", "why", "what"), MISSES, ids=[m[0]["id"] for m in MISSES])
async def test_what_is_otherwise_is_a_miss(
    recordings_path: Path, record: own.Record, why: str, what: str
) -> None:
    part = await followed(record)
    assert what in [one.what for one in part.figures if not one.met]
    assert any(why in miss for miss in part.misses), part.misses


@pytest.mark.parametrize(
    ("record", "why"),
    [(own.WRONG, "another type"), (own.NO_JSON, "no object"), (own.REFUSED, "another type")],
    ids=["wrong", "no JSON", "refused"],
)
async def test_a_call_that_its_own_definition_forbids_is_told_and_no_miss(
    recordings_path: Path, record: own.Record, why: str
) -> None:
    part = await followed(record)
    assert part.met, list(failures([part]))
    assert any("says so too" in miss and why in miss for miss in part.misses), part.misses


async def test_a_call_that_its_harness_took_for_an_answer_is_told_and_no_miss(
    recordings_path: Path,
) -> None:
    part = await followed(own.WRITTEN)
    assert part.met, list(failures([part]))
    assert any("written as text and read as a call" in miss for miss in part.misses)


async def test_a_call_under_an_earlier_calls_id_is_told_and_no_miss(recordings_path: Path) -> None:
    again = own.asked([own.call("w", "water", {"bed": 1, "litres": 5})], "watered")
    done = own.told("Both times.", "###STOP###")
    part = await followed(own.record("again", "garden", again, again, done))
    assert part.met, list(failures([part]))
    sent = "calls sent again under the id of an earlier one, told of its result"
    assert figures(part)[sent][:2] == ("1", "2")
    assert any("sent again under an earlier call's id" in miss for miss in part.misses)


# ---------------------------------------------------------------- what the checks would see


async def test_a_cut_that_ends_otherwise_is_seen(recordings_path: Path) -> None:
    driven_tally, cuts = await driven(own.GREETED), Cuts()
    shorter = Talk(
        driven_tally.talk.name,
        driven_tally.talk.tools,
        driven_tally.talk.goal,
        driven_tally.talk.turns[:-1],
    )
    await cut(_of(driven_tally, shorter), [3], cuts, replays=10)
    assert (cuts.made, cuts.same) == (1, 0)
    assert cuts.misses == ["greeted, cut after entry 3: it ended otherwise"]


async def test_a_call_made_again_is_seen(recordings_path: Path) -> None:
    """With tools that may be called again it is: the check for unsafe ones says so."""
    driven_tally, cuts = await driven(own.GREETED), Cuts()
    await cut_in_effects(driven_tally, 1, cuts)
    assert cuts.doubts == 6
    assert cuts.never_again == 0
    assert "made again: {'2.1'}, told: set()" in cuts.misses[0]


def _of(driven: Driven, other: Talk) -> Driven:
    parts = (
        driven.agent,
        driven.world,
        driven.store,
        driven.trajectory,
        driven.lines,
        driven.prompt,
    )
    return Driven(other, *parts)


@pytest.mark.skipif(bool(WHY_NOT), reason=WHY_NOT)
def test_a_sample_of_the_recordings_comes_out_as_recorded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(VARIABLE, str(HERE))
    document.cache_clear()
    part = native_runs.measure(80)
    assert part.met, "\n".join(failures([part]))
