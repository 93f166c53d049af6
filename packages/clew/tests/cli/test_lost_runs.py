"""A run whose entries a store has lost: each command that is given its id names that."""

import os
import shutil
from pathlib import Path

import pytest

from clew import Agent, run_sync, tool
from clew.retention import verify_sync
from clew.testing import ScriptedModel, act, say
from tests.cli.shell import clew

PLACE = "runs.sqlite"
LOST = ("lost its last entries", "was changed after it was written")
COMMANDS = [("show",), ("resume",), ("fork", "--at", "1"), ("approve",)]


def make(*run_ids: str) -> None:
    """Runs that had an effect each."""

    @tool(effect="unsafe")
    def pay(amount: int) -> str:
        """Pay."""
        return f"paid {amount} " + "y" * 3_000

    for run_id in run_ids:
        agent = Agent(ScriptedModel([act("pay", amount=1), say("ok")]), [pay])
        run_sync(agent, "Pay.", store=PLACE, run_id=run_id)


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_a_run_that_an_older_copy_does_not_have_is_named_as_lost(words: tuple[str, ...]) -> None:
    make("other")
    shutil.copy(PLACE, "older")
    make("r", "r-longer")
    whole = Path(PLACE).read_bytes()
    shutil.copy("older", PLACE)
    for run_id in ("r", "r-longer"):
        told = clew(*words, run_id, "--store", PLACE)
        assert (told.code == 0, f"run '{run_id}' {LOST[0]}" in told.err) == (False, True), told.err
    Path(PLACE).write_bytes(whole)
    assert clew("show", "r-lon", "--store", PLACE).code == 0
    assert "there is no run 'q'" in clew(*words, "q", "--store", PLACE).err


def test_a_lost_run_is_not_taken_for_another_whose_id_begins_with_its_own() -> None:
    make("r-longer")
    shutil.copy(PLACE, "older")
    make("r")
    shutil.copy("older", PLACE)
    assert clew("show", "r-l", "--store", PLACE).code == 0
    told = clew("show", "r", "--store", PLACE)
    assert (told.code == 0, told.out, f"run 'r' {LOST[0]}" in told.err) == (False, "", True)


@pytest.mark.parametrize("share", [0.4, 0.8])
def test_every_run_that_verify_names_is_named_by_show(share: float) -> None:
    make(*(f"run-{number}" for number in range(8)))
    os.truncate(PLACE, int(Path(PLACE).stat().st_size * share))
    _, lost = verify_sync(store=PLACE)
    named = [f"run-{n}" for n in range(8) if any(f"run 'run-{n}'" in one.why for one in lost)]
    assert named
    for run_id in named:
        told = clew("show", run_id, "--store", PLACE)
        assert told.code != 0, run_id
        assert any(words in told.err.splitlines()[-1] for words in LOST), told.err
        checked = clew("records", "verify", run_id, "--store", PLACE)
        assert (checked.code, "Traceback" in checked.err) == (5, False)
        assert run_id in checked.out + checked.err
