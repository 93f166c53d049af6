"""A setting that would do nothing is refused in one line, in Python and in agent files alike."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from clew import Agent, ConfigError, Context, Critic, Limits, NoProgress, Rewinds
from clew.agent_files import load_agent
from clew.models.openai.chat import openai_chat
from clew.models.prices import Price
from clew.screens import Injections
from clew.testing.models import ScriptedModel, say
from clew_code.workspace import workspace_tools
from clew_mcp import McpServer
from clew_strategies import TreeSearch

MINI = 'model = "openai:gpt-4.1-mini"'
SERVER = f'[[mcp]]\nname = "x"\ncommand = {sys.executable!r}'

FILES = [
    (f'{MINI}\n[prices."gpt-4.1-mni"]\ninput = 1\noutput = 2', 2, "did you mean gpt-4.1-mini?"),
    (f'{MINI}\n[prices."GPT-4.1-mini"]\ninput = 1\noutput = 2', 2, "did you mean gpt-4.1-mini?"),
    (f'{MINI}\n[prices."openai:gpt-4.1-mini"]\ninput = 1\noutput = 2', 2, "mean gpt-4.1-mini?"),
    (f"{MINI}\n[prices.other]\ninput = 1\noutput = 2", 2, "the model is 'gpt-4.1-mini': name that"),
    (f'{MINI}\nparser = "openai:p"\n[prices.q]\ninput = 1\noutput = 2', 3, "prices are of 'q'"),
    ("[rewinds]\nevery = 3", 2, "rewinds every is 3, and nobody is asked: give a critic"),
    ("[rewinds]\nby = []", 2, "rewinds by nothing: name repeated or rejected, or give a critic"),
    ('[rewinds]\nby = ["repeated"]\nrejected = 4', 3, "rejected is 4, and by leaves that out"),
    ('[strategy]\nname = "tree_search"\nexplore = 3.0', 3, 'explore is 3: set by to "uct"'),
    ('[strategy]\nname = "tree_search"\nby = "best"\nexplore = 3.0', 4, 'set by to "uct"'),
    ('screens = ["injections-ask", "injections-mark"]', 1, "two screens look for prompt inj"),
    ('screens = ["injections", "injections"]', 1, "two screens look for prompt injection"),
    ('[workspace]\nroot = "."\nenv = ["NOT_THERE_X"]', 3, "NOT_THERE_X, which is not set: set it"),
    (f'{SERVER}\nheaders = {{ A = "b" }}', 4, "headers go to a url, and the MCP server x is a com"),
    (f'{SERVER}\nroots = ["nofolder"]', 4, "nofolder, which is no folder: make it"),
    ('[[mcp]]\nname = "x"\nurl = "http://127.0.0.1:9"\ncwd = "a"', 4, "cwd goes to a command"),
    ('[[mcp]]\nname = "x"\nurl = "http://127.0.0.1:9"\nargs = ["a"]', 4, "args goes to a command"),
    ('[[mcp]]\nname = "x"\nurl = "http://127.0.0.1:9"\nenv = { A = "b" }', 4, "env goes to a"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "line", "why"), FILES, ids=range(len(FILES)))
def test_in_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, line: int, why: str
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
    monkeypatch.delenv("NOT_THERE_X", raising=False)
    named = text.startswith("model")
    (tmp_path / "a.toml").write_text(text if named else f'model = "offline"\n{text}')
    with pytest.raises(ConfigError) as refused:
        load_agent(tmp_path / "a.toml")
    message = str(refused.value)
    assert f"a.toml, line {line + (not named)}: " in message
    assert why in message
    assert "\n" not in message


def agent(**value: Any) -> Agent[Any]:
    return Agent(model=ScriptedModel([say("ok")]), **value)


PYTHON: list[tuple[Callable[[], Any], str]] = [
    (lambda: openai_chat("gpt-4.1-mini", api_key="k", prices={"gpt-4.1-mni": Price(1, 2)}), "did"),
    (lambda: openai_chat("m", api_key="k", prices={"n": Price(1, 2)}), "the model is 'm'"),
    (lambda: Rewinds(every=3), "nobody is asked"),
    (lambda: Rewinds(by=()), "rewinds by nothing"),
    (lambda: Rewinds(by=("repeated",), rejected=4), "by leaves that out"),
    (lambda: Rewinds((), critic=Critic("offline"), rejected=4), "by leaves that out"),
    (lambda: TreeSearch(agent(), explore=3.0), "set by to"),
    (lambda: agent(screens=[Injections("ask"), Injections("mark")]), "two screens look for"),
    (lambda: agent(screens=[Injections(), Injections()]), "two screens look for"),
    (lambda: workspace_tools(".", env=["PATH", "NOT_THERE_X"]), "NOT_THERE_X, which is not set"),
    (lambda: McpServer(name="x", command="true", headers={"A": "b"}), "headers go to a url"),
    (lambda: McpServer(name="x", url="https://a", args=("b",)), "args goes to a command"),
    (lambda: McpServer(name="x", url="https://a", env={"B": "b"}), "env goes to a command"),
    (lambda: McpServer(name="x", url="https://a", cwd="b"), "cwd goes to a command"),
    (lambda: McpServer(name="x", command="true", roots=("nofolder",)), "which is no folder"),
    (lambda: NoProgress(hint=9, refuse=2), "hint is 9 and refuse 2: no hint comes behind"),
    (lambda: NoProgress(reworded_hint=20), "reworded_hint is 20 and reworded 16"),
    (lambda: NoProgress(hint=0), "hint is 0: give 2 or more"),
    (lambda: NoProgress(hint=1), "hint is 1: give 2 or more"),
    (lambda: NoProgress(refuse=1), "refuse is 1: give 2 or more"),
    (lambda: NoProgress(hint=-1), "hint is -1: give 0 or more"),
]


@pytest.mark.parametrize(("make", "why"), PYTHON, ids=range(len(PYTHON)))
def test_in_python(make: Callable[[], Any], why: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NOT_THERE_X", raising=False)
    with pytest.raises(ConfigError) as refused:
        make()
    assert why in str(refused.value)
    assert "\n" not in str(refused.value)


MEANT = [
    f'{MINI}\n[prices."gpt-4.1-mini"]\ninput = 1\noutput = 2\n[prices.o]\ninput = 1\noutput = 2',
    'model = "openai:gpt-4.1-2025-04-14"\n[prices."gpt-4.1"]\ninput = 1\noutput = 2',
    f'{MINI}\nparser = "openai:tidy"\n[prices.tidy]\ninput = 1\noutput = 2',
    f'{MINI}\n[rewinds]\ncritic = "openai:tidy"\nevery = 2\n[prices.tidy]\ninput = 1\noutput = 2',
    'model = "offline"\n[rewinds]\nby = []\ncritic = "offline"\nevery = 3',
    'model = "offline"\n[strategy]\nname = "tree_search"\nby = "uct"\nexplore = 3.0',
    'model = "offline"\nscreens = ["injections-mark"]',
    'model = "offline"\n[workspace]\nroot = "."\nenv = ["PATH"]',
]  # fmt: skip


@pytest.mark.parametrize("text", MEANT, ids=range(len(MEANT)))
def test_what_does_something_is_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
    (tmp_path / "a.toml").write_text(text)
    load_agent(tmp_path / "a.toml")


def test_prices_of_a_file_stay_where_another_model_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
    text = f'{MINI}\n[prices."gpt-4.1-mini"]\ninput = 1\noutput = 2'
    (tmp_path / "a.toml").write_text(text)
    loaded, _ = load_agent(tmp_path / "a.toml", model="openai:of-my-own")
    assert not loaded.engine.model.info.priced


def test_each_model_has_its_own_price(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
    text = 'model = "openai:mine"\n[rewinds]\ncritic = "openai:yours"\n'
    prices = "[prices.mine]\ninput = 1\noutput = 2\n[prices.yours]\ninput = 3\noutput = 4\n"
    (tmp_path / "a.toml").write_text(text + prices)
    loaded, _ = load_agent(tmp_path / "a.toml")
    rewinds = loaded.context.rewinds
    assert rewinds is not None
    assert isinstance(rewinds.critic, Critic)
    rates = [one.info.rates for one in (loaded.engine.model, rewinds.critic.resolved_model)]
    assert [rate and rate.input for rate in rates] == [1, 3]


def test_settings_that_agree_are_taken() -> None:
    equal = NoProgress(hint=3, refuse=3, reworded_hint=2, reworded=2)
    agent(
        limits=Limits(no_progress=equal),
        context=Context(rewinds=Rewinds((), critic=Critic("offline"), every=2)),
        screens=[Injections(), lambda words: None],
    )
