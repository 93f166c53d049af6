"""Ray as a driver: nothing lost and nothing twice when actors and programs are killed.

Everything is done by one program in a network of its own (`ray_program`), because Ray takes seconds
to start; each test looks at a part of what it found, or at the records and effects it left.
"""

import json
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import pytest

from clew import open_store
from clew.core.journal import load
from clew.core.trajectory import Trajectory
from clew_cluster.ray.actor import ActorConfig
from tests import unmeasured
from tests.cluster.network import run_alone, why_not
from tests.patience import PATIENCE

pytestmark = pytest.mark.slow

PATH = os.pathsep.join(sys.path)  # the tests of each package are a part of `tests`
GOALS = [f"letter number {number}" for number in range(48)]


@dataclass(frozen=True)
class Found:
    """What the program said, what lies in its store, and what happened outside."""

    said: dict[str, Any]
    records: dict[str, Trajectory]
    effects: list[str]
    left: list[str]


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Found]:
    if why := why_not():
        pytest.skip(f"Ray is tested in a network of its own: {why}")
    folder = tmp_path_factory.mktemp("ray")
    short = tempfile.mkdtemp(prefix="r", dir="/tmp")  # Ray has sockets in it, whose names are short
    env = unmeasured.environment() | {
        "LEDGER": str(folder / "effects"),
        "PYTHONPATH": PATH,
        "TMPDIR": short,
        "HOME": str(folder),
    }
    env.pop("RAY_ADDRESS", None)
    command = [sys.executable, "-m", "tests.cluster.ray_program", str(folder)]
    try:
        done = run_alone(command, env=env, timeout=2 * PATIENCE)
        assert done.returncode == 0, done.stderr
        assert done.stderr.strip() in {"", "Killed"}  # what `sh` says of the program that was
        records = anyio.run(read, folder / "runs.sqlite")
        effects = (folder / "effects").read_text().splitlines()
        left = sorted(path.name for path in (*Path(short).iterdir(), *folder.iterdir()))
        yield Found(json.loads(done.stdout), records, effects, left)
    finally:
        shutil.rmtree(short)


async def read(store: Path) -> dict[str, Trajectory]:
    place = open_store(store)
    records = {info.run_id: await load(place, info.run_id) for info in await place.runs()}
    await place.close()
    return records


def test_actors_answer_as_this_process_does(found: Found) -> None:
    alone = found.said["in process"]
    assert [answer for _, answer, _ in alone] == [goal[::-1] for goal in GOALS]
    for name in ("again", "killed"):
        ends = found.said[name]["ends"]
        prefix = {"again": "survey", "killed": "storm"}[name]
        assert [ends[f"{prefix}-{number}"] for number in range(1, 49)] == alone


def test_a_program_that_was_killed_is_gone_on_with_from_its_records(found: Found) -> None:
    assert found.said["first"] == -9
    again = found.said["again"]
    assert 12 <= again["stopped before"] <= again["begun before"] < 48
    assert again["last progress"] == [48, 48, True]


def test_nothing_unsafe_happens_twice_whoever_is_killed(found: Found) -> None:
    epochs = [found.records[f"storm-{number}"].entries[-1].epoch for number in range(1, 49)]
    assert max(epochs) > 2  # begun, taken up by the actor that was killed, and by another
    sends = [line for line in found.effects if line.startswith("send ")]
    assert len(sends) == len(set(sends))
    puts = {line for line in found.effects if line.startswith("put ")}
    for run_id, record in found.records.items():
        for call in record.calls:
            key = f"{run_id}:{call.key}"
            if call.observation is None or call.action.name not in {"send", "put"}:
                continue
            if call.action.name == "put":
                assert call.observation.outcome == "done"
                assert f"put {key}" in puts
            elif call.observation.outcome == "done":
                assert f"send {key}" in sends
            else:
                assert "may or may not have happened" in call.observation.text


def test_a_fan_out_that_is_left_leaves_each_run_where_its_step_ends(found: Found) -> None:
    left = found.said["left early"]
    assert left == {"first": "answered", "begun": 4, "in doubt": 0}
    early = [record for name, record in found.records.items() if name.startswith("early-")]
    assert all(record.stop is not None or not record.step.pending for record in early)


def test_a_queue_is_served_left_and_served_on(found: Found) -> None:
    served = found.said["served"]
    drained = served["drained"]
    assert drained["taken"] == drained["ended"] + drained.get("left", 0)
    assert drained["taken"] < 16
    assert set(served["standing"]) <= {"answered", "waiting"}
    assert served["in doubt"] == 0
    assert served["after"] == ["answered"]


def test_a_driver_that_is_cancelled_leaves_its_runs_where_their_steps_end(found: Found) -> None:
    cancelled = found.said["cancelled"]
    assert (cancelled["late"], cancelled["in doubt"]) == ("answered", 0)


def test_a_run_whose_agent_is_not_here_is_refused_and_other_queues_are_left(found: Found) -> None:
    served = found.said["served"]
    assert served["strange"] == "waiting"
    assert served["other"] == "waiting"
    assert served["refused"]
    assert all("is not here" in text for text in served["refused"])


def test_the_runs_of_an_actor_share_a_connection_which_ends_with_the_actor(found: Found) -> None:
    assert found.said["asked"] == {"calls": 6, "processes": 1, "living": 0}


def test_runs_are_carried_by_their_ids_and_each_tells_its_own_trouble(found: Found) -> None:
    by_id = found.said["by id"]
    assert by_id["survey-1"] == ["answered", None, ""]
    status, left, why = by_id["nowhere"]
    assert (status, left) == ("failed", "failed")
    assert "nowhere" in why
    # By its id a run is carried with any agent that its record may describe; this one's has none.
    status, left, why = by_id["q-strange"]
    assert (status, left) == ("failed", "refused")
    assert "is not here" in why


@pytest.mark.parametrize(
    ("call", "words"),
    [
        ("memory", "actors cannot share a store in memory"),
        ("nobody", "workers is 0: give 1 or more"),
        ("no module", "cannot be imported"),
        ("no agent", "is of type PosixPath: name an agent"),
        ("unnamed", "goals need an agent"),
        ("other goals", "run survey-1 has another goal"),
        ("nowhere", "there is no Ray at 127.0.0.1:1: Connection refused"),
        ("client", "a Ray cluster is named host:port, or auto, not 'ray://x:1'"),
    ],
)
def test_what_cannot_be_meant_is_refused_in_one_line(found: Found, call: str, words: str) -> None:
    said = found.said["refusals"][call]
    assert words in said
    assert "\n" not in said


def test_what_an_actor_is_made_with_shows_no_password() -> None:
    assert "s3cret" not in repr(ActorConfig("postgresql://clew:s3cret@host/runs"))


def test_ray_listens_on_loopback_only_and_leaves_nothing_behind(found: Found) -> None:
    assert found.said["listening elsewhere"] == []
    assert found.said["left behind"] == 0
    rays = [name for name in found.left if name.startswith("clew-ray")]
    assert len(rays) == 1  # of the program that could not clear up
    others = set(found.left) - set(rays)
    assert others <= {
        ".local",  # the data folder of the user whose home this is
        "effects",
        "plain",
        "runs.sqlite",
        "runs.sqlite.claims",
        "runs.sqlite.heads",
        "runs.sqlite-shm",
        "runs.sqlite-wal",
    }


def test_a_program_of_its_own_network_is_seen_to_listen() -> None:
    """The means of these tests: what listens elsewhere is found."""
    if why := why_not():
        pytest.skip(why)
    code = (
        "import socket; from tests.cluster.network import listening; "
        "s = socket.create_server(('10.9.8.7', 0)); t = socket.create_server(('127.0.0.1', 0)); "
        "print(len(listening()))"
    )
    done = run_alone(
        [sys.executable, "-c", code], env=os.environ | {"PYTHONPATH": PATH}, timeout=PATIENCE
    )
    assert done.stdout.strip() == "1", done.stderr
