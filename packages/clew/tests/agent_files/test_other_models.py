"""Other models that a file names: what is meant for a server of one's own goes to no other."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from clew import ConfigError
from clew.agent_files import load_agent
from clew_testing.servers.openai_server import OpenAIServer, Say
from tests.cli.shell import clew


def private(body: Mapping[str, Any]) -> Say:
    """A server of one's own, where all models are."""
    text = str(body["messages"])
    if "whether the last steps" in text:
        return Say('{"wrong": false, "to": 0, "lesson": ""}')
    if '"request"' in text:
        return Say('{"harmful": false, "reason": "a question"}')
    if body["model"] == "judge":
        return Say(calls=[("finish", '{"answer": "Ulm"}')])
    return Say("I would say that it is Ulm.")


FILES: dict[str, Callable[[Path], str]] = {
    "parser": lambda folder: 'parser = "openai:judge"\n',
    "parser of another format": lambda folder: 'parser = "openai-completions:judge"\n',
    "critic": lambda folder: '[rewinds]\ncritic = "openai:judge"\n',
    "harmful": lambda folder: '[harmful]\nmodel = "openai:judge"\n',
    "agents": lambda folder: _other(
        folder, "", '[[agents]]\nname = "other"\nfile = "other.toml"\ndescription = "It helps."\n'
    ),
}


def _other(folder: Path, said: str, table: str) -> str:
    (folder / "other.toml").write_text(said)
    return table


@pytest.mark.parametrize("key", ["parser", "harmful"])
def test_all_of_them_are_asked_at_the_server_that_the_file_names(key: str, tmp_path: Path) -> None:
    file = tmp_path / "agent.toml"
    with OpenAIServer(private) as own, OpenAIServer(lambda body: Say("public")) as public:
        table = FILES[key](tmp_path)
        keys, tables = (table, "") if not table.startswith("[") else ("", table)
        file.write_text(
            f'model = "openai:own"\n{keys}\n{tables}\n[connection]\nbase_url = "{own.base_url}"\n'
        )
        env = {"OPENAI_BASE_URL": public.base_url, "OPENAI_API_KEY": "sk-secret"}
        done = clew("ask", "Which city?", "--agent", str(file), env=env)
        assert done.code == 0
        assert len(public.requests) == 0
        assert len(own.requests) >= 2


@pytest.mark.parametrize("key", [*FILES])
def test_none_of_them_has_another_address(
    key: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "agent.toml"
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    table = FILES[key](tmp_path)
    keys, tables = (table, "") if not table.startswith("[") else ("", table)
    local = '[connection]\nbase_url = "http://127.0.0.1:9/v1"\n'
    file.write_text(f'model = "openai:own"\n{keys}\n{tables}\n{local}')
    load_agent(file)  # a server of one's own needs no key; the public one does
    file.write_text(f'model = "openai:own"\n{keys}\n{tables}\n')
    with pytest.raises(ConfigError, match="OPENAI_API_KEY"):
        load_agent(file)


def test_another_provider_is_not_reached_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "agent.toml"
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    local = '[connection]\nbase_url = "http://127.0.0.1:9/v1"\n'
    file.write_text(f'model = "openai:own"\nparser = "anthropic:claude-x"\n{local}')
    with pytest.raises(ConfigError, match="ANTHROPIC_API_KEY"):
        load_agent(file)


def test_a_model_in_batches_is_one_of_the_same_provider(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLEW_BATCHES", str(tmp_path / "batches.sqlite"))
    for key in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.delenv(key, raising=False)
    file = tmp_path / "agent.toml"
    local = '[connection]\nbase_url = "http://127.0.0.1:9"\n'
    file.write_text(f'model = "batch:openai:own"\nparser = "openai:judge"\n{local}')
    load_agent(file)  # both are at the server of one's own, which needs no key
    for other in ("anthropic:claude-x", "batch:anthropic:claude-x"):
        file.write_text(f'model = "batch:openai:own"\nparser = "{other}"\n{local}')
        with pytest.raises(ConfigError, match="ANTHROPIC_API_KEY"):
            load_agent(file)


def test_a_model_in_batches_has_the_prices_of_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLEW_BATCHES", str(tmp_path / "batches.sqlite"))
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    file = tmp_path / "agent.toml"
    file.write_text('model = "batch:openai:own"\n[prices.own]\ninput = 3\noutput = 5\n')
    agent, _ = load_agent(file)
    rates = agent.engine.model.info.rates
    assert rates is not None
    assert (rates.input, rates.output) == (3, 5)


def test_prices_of_no_model_are_refused_in_batches_too(tmp_path: Path) -> None:
    file = tmp_path / "agent.toml"
    prices = "[prices.onw]\ninput = 3\noutput = 5\n"
    file.write_text(f'model = "batch:openai:own"\n{prices}')
    with pytest.raises(ConfigError, match=r"line 2: prices are of 'onw'.*did you mean own"):
        load_agent(file)
