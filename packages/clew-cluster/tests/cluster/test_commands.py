"""The command line with a database for a store: its address is a place like any other, and no
password of it is shown.
"""

from pathlib import Path

import pytest

from clew.support.extras import install
from tests.cli.shell import clew
from tests.postgres import Server

pytestmark = pytest.mark.slow


def test_a_run_lies_in_a_database(postgres_server: Server) -> None:
    address = f"{postgres_server.address()}?schema=of_the_cli"
    bare = address.replace(f":{postgres_server.password}@", "@")
    asked = clew("ask", "What is 6 * 7?", "--model", "offline", "--store", address)
    assert (asked.code, "42" in asked.out) == (0, True)
    assert "the password in --store is in no command shown here" in asked.err
    env = {"CLEW_STORE": address}
    commands = (["runs"], ["show", "last"], ["doctor"], ["approvals"], ["records", "verify"])
    told = [clew(*words, env=env) for words in commands]
    assert [done.code for done in told] == [0, 0, 0, 0, 0]
    assert f"{bare}  1 run" in told[2].out
    assert told[3].out == f"nothing waits for a person in {bare}\n"
    wrong = clew("runs", "--store", address.replace(postgres_server.password, "not-the-word"))
    assert wrong.err.splitlines()[-1] == (
        f"clew: {bare} does not accept the user or the password: check both, or PGPASSWORD and "
        "~/.pgpass"
    )
    everything = "".join(done.out + done.err for done in (asked, *told, wrong))
    assert postgres_server.password not in everything
    assert "not-the-word" not in everything
    record = clew("show", "last", "--jsonl", env=env).out
    assert postgres_server.password not in record


def test_a_missing_extra_is_told_in_a_line() -> None:
    Path("dbos.py").write_text('raise ModuleNotFoundError("it is not here", name="dbos")')
    missing = clew("worker", "--driver", "dbos")
    advice = install("dbos", "clew-cluster")
    told = f"clew: the driver dbos needs dbos, which is not installed: run {advice}\n"
    assert (missing.code, missing.err) == (2, told)
