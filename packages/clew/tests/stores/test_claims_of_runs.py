"""A run is claimed by one worker at a time, and taken over from one that may be gone."""

from pathlib import Path

import pytest

from clew import Agent, ConfigError, SqliteStore, submit
from clew.stores.address import has_password, without_password
from clew.stores.locks import claim, fingerprint_of, queue_of, release_quietly, shared
from clew.testing import ScriptedModel

pytestmark = pytest.mark.anyio


async def test_one_has_a_run_until_it_lets_go_or_is_taken_over(tmp_path: Path) -> None:
    path = tmp_path / "runs.sqlite"
    agent = Agent(ScriptedModel([]))
    run_id = await submit(agent, "What?", store=path, queue="slow")
    one, other = SqliteStore(path), SqliteStore(path)
    try:
        (info,) = await one.runs()
        assert (queue_of(info), fingerprint_of(info)) == ("slow", agent.spec.fingerprint)
        assert await claim(one, run_id) == run_id
        assert await claim(other, run_id) is None
        over = await claim(other, run_id, take_over=True)
        assert over is not None
        assert over == f"over:{run_id}"
        assert await claim(one, run_id, take_over=True) is None, "only one at a time takes over"
        await release_quietly(other, over)
        await release_quietly(one, run_id)
        assert await claim(other, run_id) == run_id
        await release_quietly(other, run_id)
    finally:
        await one.close()
        await other.close()


def test_workers_share_no_store_without_claims() -> None:
    class Bare:
        """A store that cannot be claimed in."""

    with pytest.raises(ConfigError, match="workers cannot share this store"):
        shared(Bare())  # type: ignore[arg-type] # what a user may pass


@pytest.mark.parametrize(
    ("name", "secret", "shown"),
    [
        ("runs.sqlite", False, "runs.sqlite"),
        ("postgresql://ada:pass@host/db", True, "postgresql://ada@host/db"),
        ("postgresql://ada@host/db?password=p", True, "postgresql://ada@host/db"),
        ("postgresql://ada@host/db?x=1", False, "postgresql://ada@host/db?x=1"),
    ],
)
def test_an_address_is_printed_without_its_password(name: str, shown: str, *, secret: bool) -> None:
    pytest.importorskip("clew_cluster", reason="what knows such addresses")
    assert (has_password(name), without_password(name)) == (secret, shown)
