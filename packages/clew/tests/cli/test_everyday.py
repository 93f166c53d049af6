"""Everyday things: completion, lists of models, logs, spans, Ctrl-C before anything is there."""

import os
import re
import shutil
import signal
import subprocess
import sys
from itertools import chain
from pathlib import Path

import pytest

from clew.cli import COMMANDS
from clew_testing.servers.openai_server import Fail, OpenAIServer, Say, Turn
from tests.cli.shell import RUN_ID, clew, environment, until
from tests.otel.collector import collector
from tests.patience import PATIENCE

OF_PACKAGES = {"mcp", "eval", "serve", "view", "acp"}
"""The commands of other packages that the overview names."""

KEY = "sk-very-secret-0123456789"
BASH = shutil.which("bash")
needs_bash = pytest.mark.skipif(BASH is None, reason="there is no bash here")


def with_model(server: OpenAIServer) -> dict[str, str]:
    return {"OPENAI_BASE_URL": server.base_url, "OPENAI_API_KEY": KEY}


def program() -> dict[str, str]:
    """An environment in which there is a program `clew`."""
    Path("bin").mkdir(exist_ok=True)
    Path("bin/clew").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m clew_cli "$@"\n')
    Path("bin/clew").chmod(0o755)
    return environment(PATH=f"{Path('bin').absolute()}{os.pathsep}{os.environ['PATH']}")


def completed(*lines: str) -> list[list[str]]:
    """What bash offers at the end of each line, having read the script."""
    assert BASH is not None
    code = (
        'source <(clew doctor completion bash); for line in "$@"; do COMP_LINE="$line"; '
        'COMP_POINT=${#line}; _clew_completion clew; echo "${COMPREPLY[*]}"; done'
    )
    done = subprocess.run(
        [BASH, "--norc", "-c", code, "bash", *lines],
        capture_output=True, env=program(), text=True, check=True, timeout=PATIENCE,
    )  # fmt: skip
    assert "Traceback" not in done.stderr
    return [line.split() for line in done.stdout.split("\n")[: len(lines)]]


@pytest.mark.slow
@needs_bash
def test_bash_completes() -> None:
    found = completed(
        "clew a",
        "clew ask --st",
        "clew ask --model off",
        "clew ask --model openai:gpt-4.1-",
        "clew ask --model openai",
        "clew ask --tools calc,pl",
        "clew ask --codec lab",
        "clew doctor models mis",
        "clew show ",
    )
    assert {"ask", "approvals"} <= set(found[0])
    assert found[1:3] == [["--strategy", "--steps", "--stop", "--store"], ["offline"]]
    # Bash takes a colon for the end of a word, and replaces only what follows it.
    assert found[3] == ["gpt-4.1-mini", "gpt-4.1-nano"]
    assert "openai:gpt-4.1-mini" in found[4]
    assert found[6][0] == "labelled"
    assert [found[5], *found[7:]] == [["calc,planner"], ["mistral"], []]


@pytest.mark.slow
@needs_bash
def test_bash_completes_runs() -> None:
    run = clew("ask", "What is 2+3?", "--json").document["run_id"]
    Path("broken").write_text("no store")
    assert completed(
        "clew show ",
        f"clew resume {run[:12]}",
        "clew replay nosuch",
        "clew show --store nowhere ",
        "clew show --store broken ",
    ) == [["last", run], [run], [], [], []]


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_get_their_own_script(shell: str) -> None:
    clew("ask", "What is 2+3?")
    script = clew("doctor", "completion", shell)
    assert script.code == 0
    assert script.out.startswith({"zsh": "#compdef clew\n", "fish": "function _clew_"}[shell])
    env = {"_CLEW_COMPLETE": f"{shell}_complete", "COMP_WORDS": "clew show ", "COMP_CWORD": ""}
    if shell == "zsh":
        env["COMP_CWORD"] = "2"
    offered = clew(env=env)
    assert re.search(rf"last.*\n[\s\S]*{RUN_ID}", offered.out)
    assert "What is 2+3?" in offered.out


def test_a_shell_that_is_not_known_is_said() -> None:
    done = clew("doctor", "completion", "tcsh")
    assert (done.code, "'bash', 'zsh', 'fish'" in done.err) == (2, True)


def test_models_that_can_be_used_come_first() -> None:
    with OpenAIServer([Say("Ok.")], models=["tiny", "big"]) as server:
        env = {"OLLAMA_BASE_URL": server.base_url}
        done = clew("doctor", "models", env=env)
        names = re.findall(r"^(ok|--)  (\S+) ", done.out, re.MULTILINE)
        assert names[:3] == [("ok", "offline"), ("ok", "ollama:tiny"), ("ok", "ollama:big")]
        assert all(mark == "--" for mark, _ in names[3:])
        assert re.search(
            r"^--  openai:gpt-4.1-mini +set OPENAI_API_KEY \(all \d+: .* models openai\), \$0.4 in",
            done.out,
            re.MULTILINE,
        )
        assert len(names) < 40  # the others stand in the list of their provider
        assert re.search(
            r"^--  vllm:MODEL +vllm: http://localhost:8000/v1 lists", done.out, re.MULTILINE
        )
        for name in ("ollama:tiny", "ollama:big"):  # --model takes what is listed
            assert clew("ask", "What?", "--model", name, env=env).code in {0, 5}
            assert any(request.body["model"] in name for request in server.requests)


def test_models_of_a_provider_whose_key_is_there_are_asked_for() -> None:
    with OpenAIServer(models=["gpt-4.1-mini", "gpt-9"], key=KEY) as server:
        found = clew("doctor", "models", "openai", "--json", env=with_model(server)).document
    assert [(one["model"], one["usable"]) for one in found] == [
        ("openai:gpt-4.1-mini", True),
        ("openai:gpt-9", True),
    ]
    assert found[0]["price"]["input"] == 0.4
    assert found[1]["price"] is None
    gone = clew(
        "doctor", "models", "openai", "--json", env=with_model(server)
    )  # nobody is there any more
    assert "lists no models" in gone.document[0]["detail"]
    assert KEY not in gone.out + gone.err


def test_a_provider_that_is_not_there_is_said() -> None:
    done = clew("doctor", "models", "opnai")
    assert (done.code, done.err) == (
        2,
        "clew: there is no provider 'opnai': did you mean openai?\n",
    )
    for name, key in (("openai or openrouter", ""), ("openrouter or openai", "sk-or-x")):
        part = clew("doctor", "models", "open", env={"OPENROUTER_API_KEY": key})
        assert part.err == f"clew: there is no provider 'open': did you mean {name}?\n"
    assert clew("doctor", "models", "xyzxyz").err.startswith(
        "clew: there is no provider 'xyzxyz', and no model with that in its name: there are"
    )
    assert clew("doctor", "models", "offline").out.startswith("ok  offline ")


def test_models_are_listed_by_a_part_of_their_names() -> None:
    listed = clew("doctor", "models", "Sonnet", "--json").document
    names = {one["model"] for one in listed}
    assert "anthropic" in {name.partition(":")[0] for name in names}
    assert all("sonnet" in name for name in names)
    with OpenAIServer(models=["sonnet-of-mine", "other"], key=KEY) as server:
        env = with_model(server)
        first, *others = clew("doctor", "models", "sonnet", "--json", env=env).document
    assert (first["model"], first["usable"]) == ("openai:sonnet-of-mine", True)
    assert {one["model"] for one in others} == names
    assert "openai:gpt-4.1-mini" in clew("doctor", "models", "gpt-4.1-mini").out  # not "gemini"


def test_a_key_that_is_missing_is_named() -> None:
    done = clew("ask", "What?", "--model", "anthropic:claude-sonnet-5-5")
    assert done.code == 2
    assert "needs a key: set ANTHROPIC_API_KEY in the environment or in .env" in done.err


def test_waits_are_told_and_with_debug_all_the_rest() -> None:
    words = ("ask", "What?", "--model", "openai:test", "--quiet")
    script: list[Turn] = [Fail(429, f"slow, {KEY}", headers={"retry-after-ms": "20"}), Say("Ok.")]
    with OpenAIServer(script) as server:
        done = clew(*words, env=with_model(server))
    limiting = (
        "clew: openai:test is limiting the rate (429): slow, ***; whoever asks it waits 0.0 s"
    )
    assert (done.code, done.err) == (0, f"{limiting}\n")
    with OpenAIServer(script) as server:
        lines = clew(*words, "--debug", env=with_model(server)).err.splitlines()
    assert re.fullmatch(rf"clew: run {RUN_ID}: begun with openai:test", lines[0])
    assert lines[1] == limiting
    assert re.fullmatch(rf"clew: run {RUN_ID}: stopped, answered", lines[2])


def test_a_rate_from_the_environment_is_kept() -> None:
    with OpenAIServer([Say(calls=[("calc", '{"expression": "1+1"}')]), Say("2")]) as server:
        words = ("ask", "What?", "--model", "openai:test", "--debug")
        done = clew(*words, env={**with_model(server), "CLEW_RATE": "1 requests a day"})
        assert (done.code, server.requests) == (2, [])
        assert "'1 requests a day' is no rate: write '60 requests" in done.err
        done = clew(*words, env={**with_model(server), "CLEW_RATE": "600 requests"})
        assert done.code == 0


def test_doctor_tells_proxies_and_addresses_without_their_secrets() -> None:
    env = {
        "HTTPS_PROXY": f"http://user:{KEY}@proxy.example:3128",
        "NO_PROXY": "localhost,.lan",
        "OPENAI_BASE_URL": f"https://user:{KEY}@gateway.example/v1",
        "CLEW_RATE": "60 requests",
    }
    done = clew("doctor", env=env)
    assert re.search(
        r"https proxy +proxy.example:3128, but not for localhost,.lan$", done.out, re.MULTILINE
    )
    assert re.search(r"gateway.example, from OPENAI_BASE_URL\)$", done.out, re.MULTILINE)
    assert re.search(r"CLEW_RATE +60 requests$", done.out, re.MULTILINE)
    assert KEY not in done.out + done.err + clew("doctor", "--json", env=env).out


@pytest.mark.parametrize("proxy", ["nonsense", "http://[bad", "http://localhost:99999", "ftp://a"])
def test_a_proxy_that_cannot_be_one_is_named_by_its_variable(proxy: str) -> None:
    env = {"HTTPS_PROXY": proxy, "OPENAI_API_KEY": KEY}
    done = clew("doctor", env=env)
    said = (
        rf"^-- +settings +https proxy +HTTPS_PROXY: '{re.escape(proxy)}' is no address of a proxy"
    )
    assert re.search(said, done.out, re.MULTILINE)
    done = clew("ask", "hi", "--model", "openai:gpt-4.1-mini", env=env)
    assert done.code == 2
    assert "the proxy in HTTPS_PROXY cannot be used" in done.err


def test_a_record_is_sent_as_spans() -> None:
    run = clew("ask", "What is 2+3?", "--json").document["run_id"]
    with collector() as found:
        done = clew("records", "export", "last", "--otel", "--endpoint", f"{found.url}/v1/traces")
    assert done.out == f"sent {len(found.spans)} spans of run {run}\n"
    assert {span.name.split()[0] for span in found.spans} == {
        "invoke_agent",
        "chat",
        "execute_tool",
    }
    done = clew("records", "export", "last", "--otel", env={
        "OTEL_EXPORTER_OTLP_ENDPOINT": found.url, "OTEL_EXPORTER_OTLP_TIMEOUT": "0.1",
    })  # fmt: skip
    assert done.code == 5
    assert re.fullmatch(r"clew: no collector took the spans at http://127\S+: see .*\n", done.err)
    assert clew("records", "export", "last").code == 2
    nowhere = clew("records", "export", "last", "--otel", "--endpoint", "me:secret@nowhere")
    assert (nowhere.code, nowhere.err.count("\n")) == (2, 1)
    assert nowhere.err.startswith("clew: 'nowhere' is no address: give one as http://host")


@pytest.mark.parametrize("module", ["msgspec", "rich"], ids=["core", "cli"])
def test_ctrl_c_before_anything_is_there_is_no_traceback(module: str) -> None:
    Path("slow").mkdir()
    Path(f"slow/{module}.py").write_text(
        "import time\nfrom pathlib import Path\nPath('begun').touch()\n"
        "while True: time.sleep(0.01)\n"
    )
    env = environment()
    env["PYTHONPATH"] = f"{Path('slow').absolute()}{os.pathsep}{env['PYTHONPATH']}"
    process = subprocess.Popen(
        [sys.executable, "-m", "clew_cli", "ask", "What is 2+3?"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env, text=True,
    )  # fmt: skip
    until("begun", process)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out, err) == (130, "", "clew: interrupted\n")


def test_the_overview_imports_no_command_and_knows_them_all() -> None:
    code = (
        "import sys\n"
        "from clew.cli import COMMANDS, main\n"
        "before = set(sys.modules)\n"
        "try: main(['--help'], prog_name='clew')\n"
        "finally: print(sorted(m for m in set(sys.modules) - before if m.startswith('clew')))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment()
    )
    assert done.stdout.splitlines()[-1] == "[]"
    entries = list(chain.from_iterable(COMMANDS.values()))
    names = [entry.name for entry in entries]
    entries += chain.from_iterable(entry.commands for entry in entries)
    own = [entry for entry in entries if not entry.package]
    assert [entry.load().name for entry in own] == [entry.name for entry in own]
    # 22 of clew: the last five are one word for what people decide of a call by its id (approve,
    # reject, answer, settle) and follow. Of its packages those that issue 38 names.
    assert len(names) - len(OF_PACKAGES) <= 22
    assert {entry.name for entry in chain.from_iterable(COMMANDS.values()) if entry.package} == (
        OF_PACKAGES
    )
    assert all(f"  {name} " in done.stdout for name in names)
