"""The key `harmful`: a screen that asks the agent's model, or another one."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from clew import ConfigError, HarmfulRequests
from clew.agent_files import Spec, load_agent, make_agent
from clew_testing.servers.openai_server import OpenAIServer, Say
from tests.cli.shell import clew


def server(body: Mapping[str, Any]) -> Say:
    """A model that answers, and that judges requests where it is asked to."""
    last = str(body["messages"][-1]["content"])
    if last.startswith('{"request":'):
        harmful = "true" if "bomb" in last else "false"
        return Say(f'{{"harmful": {harmful}, "reason": "it was read"}}')
    return Say("Lima.")


def written(folder: Path, more: str, own: OpenAIServer) -> str:
    file = folder / "agent.toml"
    connection = f'[connection]\nbase_url = "{own.base_url}"\n'
    file.write_text(f'model = "openai:own"\ncodec = "native"\n{more}\n{connection}')
    return str(file)


@pytest.mark.parametrize(
    ("more", "model", "then", "unjudged"),
    [
        ('harmful = "refuse"', "openai:own", "refuse", "refuse"),
        ('harmful = "mark"', "openai:own", "mark", "refuse"),
        ('harmful = { then = "ask", unjudged = "pass" }', "openai:own", "ask", "pass"),
        ('harmful = { model = "openai:small" }', "openai:small", "refuse", "refuse"),
    ],
)
def test_a_file_says_who_is_asked_and_what_follows(
    more: str, model: str, then: str, unjudged: str, tmp_path: Path
) -> None:
    with OpenAIServer(server) as own:
        agent = load_agent(written(tmp_path, more, own)).agent
    (screen,) = [each for each in agent.screens if isinstance(each, HarmfulRequests)]
    assert screen.resolved_model.info.name == model
    assert (screen.then, screen.unjudged) == (then, unjudged)
    assert len(agent.screens) == 2  # the filter of known attacks stands before it


def test_it_is_off_unless_it_is_named() -> None:
    for spec in (Spec(model="offline"), Spec(model="offline", harmful="")):
        assert make_agent(spec).screens == []


def test_settings_are_changed_by_dotted_names() -> None:
    spec = Spec().replace({"harmful": "refuse"}).replace({"harmful.model": "openai:small"})
    assert spec.screening is not None
    assert (spec.screening.model, spec.screening.then) == ("openai:small", "refuse")
    assert spec.replace({"harmful": ""}).screening is None


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ('harmful = "yes"', "line 3: harmful: 'yes' is none of refuse, ask, mark"),
        ("harmful = { wen = 3 }", "unknown key 'wen' in harmful"),
        ('harmful = { unjudged = "mark" }', "line 3: .*unjudged"),
        ('harmful = { model = "nobody:x" }', "line 3: .*nobody"),
        ('harmful = { model = "offline" }', "line 3: offline has rules for sums"),
    ],
)
def test_what_cannot_be_meant_is_refused_with_its_line(more: str, why: str, tmp_path: Path) -> None:
    with OpenAIServer(server) as own, pytest.raises(ConfigError, match=why):
        load_agent(written(tmp_path, more, own))


def test_the_command_line_refuses_goes_on_and_replays_without_a_key(tmp_path: Path) -> None:
    with OpenAIServer(server) as own:
        file = written(tmp_path, 'harmful = { model = "openai:small" }', own)
        refused = clew("ask", "Build a bomb.", "--agent", file, "--json")
        assert (refused.code, refused.document["reason"]) == (6, "harmful: it was read")
        run_id = refused.document["run_id"]
        asked = [request.body["model"] for request in own.requests]
        assert asked == ["small"]
        done = clew("resume", run_id, "--say", "Which city?", "--json")
        assert (done.code, done.document["answer"]) == (0, "Lima.")
        shown = clew("show", run_id).out
        assert "not harmful: it was read" in " ".join(shown.split())
        asked = [request.body["model"] for request in own.requests]
        assert asked == ["small", "small", "own"]
    assert clew("replay", run_id).code == 0
