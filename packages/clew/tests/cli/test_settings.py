"""Settings of a model on the command line: sent, recorded, shown, or refused in one line."""

import json
from pathlib import Path

import pytest

from clew import ModelSettings
from clew_testing.servers.openai_server import OpenAIServer, Say
from tests.cli.shell import clew

EVERY = {
    "temperature": 0.5, "top_p": 0.9, "max_tokens": 400, "stop": ["END", "STOP"], "effort": "low",
    "user": "ada", "top_k": 4,
}  # fmt: skip
OPTIONS = (
    "--temperature", "0.5", "--top-p", "0.9", "--max-tokens", "400", "--stop", "END",
    "--stop", "STOP", "--seed", "7", "--effort", "low", "--timeout", "9",
    "--extra", "user=ada", "--extra", "top_k=4",
)  # fmt: skip


def test_every_setting_is_an_option_is_sent_and_is_shown() -> None:
    with OpenAIServer([Say("It is 42."), Say("43.")]) as server:
        env = {"VLLM_BASE_URL": server.base_url}
        asked = clew("ask", "What is it?", "--model", "vllm:m", "--json", *OPTIONS, env=env)
        said = clew("resume", "last", "--say", "And now?", "--quiet", env=env)
    assert json.loads(asked.out)["settings"] == EVERY | {"seed": 7}
    assert (asked.code, said.code) == (0, 0)
    for seen in server.requests:
        sent = {key: seen.body.get(key) for key in ("reasoning_effort", "seed", "top_k", "stop")}
        assert sent == {"reasoning_effort": "low", "seed": 7, "top_k": 4, "stop": ["END", "STOP"]}
    shown = clew("show", "last").out
    assert "Settings: user ada, top_k 4, temperature 0.5, top_p 0.9, max_tokens 400" in shown
    assert clew("replay", "last").code == 0
    changed = ("resume", "last", "--say", "Hm?", "--set", "settings.temperature=1")
    with OpenAIServer([Say("44.")]) as server:
        env = {"VLLM_BASE_URL": server.base_url}
        refused, accepted = clew(*changed, env=env), clew(*changed, "--accept-change", env=env)
    assert refused.code == 2
    assert "params" in refused.err
    assert (accepted.code, server.requests[0].body["temperature"]) == (0, 1)
    options = clew("ask", "--help").out
    assert all(f"--{name.replace('_', '-')}" in options for name in ModelSettings.HELP)


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (
            ("--model", "offline", "--temperature", "0"),
            "offline takes no temperature: leave it out",
        ),
        (("--model", "vllm:m", "--cache", "long"), "vllm:m takes no cache: leave it out"),
        (("--model", "vllm:m", "--effort", "max"), "takes no effort 'max': choose one of none,"),
        (("--model", "vllm:m", "--top-p", "2"), "top_p is 2.0: give 0 to 1"),
        (("--model", "vllm:m", "--extra", "temperature=1"), "say it as temperature, which is its"),
    ],
)
def test_what_a_model_has_none_of_is_refused_in_one_line(
    options: tuple[str, ...], why: str
) -> None:
    done = clew("ask", "What is it?", *options)
    assert (done.code, done.out, len(done.err.splitlines())) == (2, "", 1)
    assert why in done.err


def test_a_file_says_them_and_an_option_stands_over_it() -> None:
    Path("agent.toml").write_text(
        'model = "vllm:m"\n[settings]\ntemperature = 0.5\nmax_tokens = 9\nextra = { top_k = 3 }\n'
    )
    with OpenAIServer([Say("It is 42.")]) as server:
        env = {"VLLM_BASE_URL": server.base_url}
        done = clew("ask", "What?", "--agent", "agent.toml", "--max-tokens", "5", env=env)
    assert done.code == 0
    body = server.requests[0].body
    assert (body["temperature"], body["max_tokens"], body["top_k"]) == (0.5, 5, 3)
    Path("agent.toml").write_text('model = "offline"\n[settings]\nmax_tokens = 9\n')
    refused = clew("ask", "What?", "--agent", "agent.toml")
    assert "agent.toml, line 3: offline takes no max_tokens: leave it out" in refused.err
