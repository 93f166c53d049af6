"""`clew show --context`: what the prompt of each step held."""

from pathlib import Path

import clew as package
from benchmarks.context.long_runs import WindowModel, page, reading
from clew import Agent, Limits
from clew.testing.models import say
from tests.cli.shell import clew


async def test_a_run_is_shown_with_what_was_left_out_of_its_prompts(tmp_path: Path) -> None:
    place = tmp_path / "runs.sqlite"
    store = package.SqliteStore(place)
    limits = Limits(steps=60, tool_calls=60)
    model = WindowModel(reading(24, say("wrong"), say("right")), 6_000)
    agent = Agent(model, [page], prompt="Read.", limits=limits)
    await package.run(agent, "Where?", store=store, run_id="long")
    await package.rewind("long", to=23, lesson="It is another harbour.", by="Ada", store=store)
    await package.resume(agent, "long", store=store)
    await store.close()
    where = ("--store", str(place))

    shown = clew("show", "long", "--context", *where)

    assert shown.code == 0, shown.err
    lines = shown.out.splitlines()
    assert lines[0] == "step   tokens  cached   # cached, - new"
    cuts = [line for line in lines if line.startswith("       left out: ")]
    assert cuts
    assert all("of a window of 6,000" in line for line in cuts)
    assert "       rewound to step 23 by Ada: It is another harbour." in lines
    assert "steps rewound)" in lines[-1]
    document = clew("show", "long", "--context", "--json", *where).document
    assert [step["step"] for step in document["steps"]] == [*range(1, 28)]
    assert sum(len(step["new"]) for step in document["steps"]) >= 3
    assert document["steps"][1]["cached"] > 0
    told = clew("show", "long", *where).out
    assert "Left out: steps 1 to" in told
    assert "Rewound: to step 23 (Ada): It is another harbour." in told


def test_a_run_without_a_count_of_tokens_has_no_bars(tmp_path: Path) -> None:
    where = ("--store", str(tmp_path / "runs.sqlite"))
    asked = clew("ask", "What is 17 * 23?", "--model", "offline", "--json", *where).document
    shown = clew("show", asked["run_id"], "--context", *where)
    assert "#" not in shown.out.partition("\n")[2]
    wrong = clew("show", asked["run_id"], "--context", "--md", *where)
    assert (wrong.code, "--context goes with --json only." in wrong.err) == (2, True)


async def test_a_window_is_set_where_a_question_is_asked(tmp_path: Path) -> None:
    place = tmp_path / "runs.sqlite"
    where = ("--store", str(place))
    asked = clew("ask", "2 + 2", "--window", "16000", "--json", *where).document
    store = package.SqliteStore(place)
    record = await package.read(asked["run_id"], store=store)
    await store.close()
    assert "window=16000" in record.started.spec.parts["compaction"]
