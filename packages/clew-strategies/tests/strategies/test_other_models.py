"""Other models that a strategy names: what is meant for a server of one's own goes to no other."""

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
    if "You judge the work" in text or "Say whether it is right" in text:
        said = '{"answer": {"passed": true, "why": "it is"}}'
        return Say(calls=[("finish", said)])
    if body["model"] == "judge":
        return Say(calls=[("finish", '{"answer": "Ulm"}')])
    return Say("I would say that it is Ulm.")


FILES: dict[str, Callable[[Path], str]] = {
    "evaluator": lambda folder: _other(
        folder,
        'prompt = "Say whether it is right."\n',
        '[strategy]\nname = "reflexion"\nevaluator = "other.toml"\n',
    ),
    "strategy": lambda folder: 'strategy = "evaluator_optimizer"\n',
}


def _other(folder: Path, said: str, table: str) -> str:
    (folder / "other.toml").write_text(said)
    return table


@pytest.mark.parametrize("key", [*FILES])
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


def test_the_verifier_of_a_vote_is_asked_there_too(tmp_path: Path) -> None:
    answers = iter(["Ulm", "Graz", "Bern"])

    def reply(body: Mapping[str, Any]) -> Say:
        if body["model"] == "judge":
            return Say(calls=[("finish", '{"answer": {"run": 1, "why": "it fits"}}')])
        return Say(next(answers))

    file = tmp_path / "agent.toml"
    with OpenAIServer(reply) as own, OpenAIServer(lambda body: Say("public")) as public:
        file.write_text(f'model = "openai:own"\n[connection]\nbase_url = "{own.base_url}"\n')
        done = clew(
            *("ask", "Which?", "--agent", str(file), "--votes", "3", "--verifier", "openai:judge"),
            env={"OPENAI_BASE_URL": public.base_url, "OPENAI_API_KEY": "sk-secret"},
        )
        assert done.code == 0
        assert len(public.requests) == 0
        assert [each.body["model"] for each in own.requests].count("judge") == 1
