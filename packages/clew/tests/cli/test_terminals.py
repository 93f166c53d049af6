"""A terminal gets no escape that clew did not write itself, whoever has a say in a run."""

import re
import tempfile
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from clew.cli.safe_stream import SafeStream
from clew.cli.safe_text import json_text
from clew.support.printable import printable
from clew_testing.servers.openai_server import Fail, OpenAIServer, Say
from tests.cli.shell import clew, own_tools
from tests.cli.terminal import terminal

PAYLOADS = (
    "\x1b]0;EVIL\x07", "\x1b]8;;http://evil.example\x1b\\here\x1b]8;;\x1b\\", "\x1b[5;7mEVIL",
    "\x1b[6n", "\x1bPq#0\x1b\\", "\x1bcEVIL", "\x1b]52;c;RVZJTA==\x07", "\x9b5mEVIL",
    "\x9d0;EVIL\x9c", "x\x08EVIL", "x\rEVIL", "\x0bEVIL", "\x7fEVIL", "\u202eEVIL\u202c",
    "\u2066EVIL", "EV\u200bIL", "EV\u2063IL", "\U000e0045\U000e0056EVIL", "EV\xadIL",
    "E\ufe01\ufe02VIL", "\x1b[3;1HEVIL", "\x1b[1;1r", "\x1b(0EVIL", "\x1b[?1049h",
)  # fmt: skip
EVIL = " ".join(PAYLOADS)
OURS = re.compile(
    "\x1b\\[(?:[0-9]|[1-9][0-9])(?:;[0-9]{1,3})*m"  # colours of rich
    "|\x1b\\[\\?25[lh]|\x1b\\[1A|\x1b\\[2?K|\r"  # its live lines
    "|\x1b\\[\\?2004[hl]\r?"  # readline's paste mode
)
RAW = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u200b\u202a-\u202e\u2060-\u2069\U000e0000-\U000e0fff]"
)


def acting(seen: str) -> list[str]:
    """What of all that a terminal has got would act, and is not clew's own."""
    whole = [each for each in PAYLOADS if each in seen]
    return whole + RAW.findall(OURS.sub("", seen))


def watched(*words: str, typed: str = "", **env: str) -> str:
    """All that a terminal got of a command."""
    with terminal(*words, **env) as shown:
        if typed:
            shown.type(typed)
        shown.leaves()
        return shown.seen


def asked(script: list[Any], *words: str, typed: str = "", **env: str) -> str:
    with OpenAIServer(script) as server:
        env = {"OPENAI_BASE_URL": server.base_url, "OPENAI_API_KEY": "sk-test-0123456789", **env}
        return watched(*words, "--model", "openai:test", typed=typed, **env)


TOOLS = f"""
import logging, sys, warnings
from clew import tool
EVIL = {EVIL!r}

@tool(effect="read")
def fetch(of: str) -> str:
    "Fetch it."
    print(EVIL)
    sys.stderr.write(EVIL + chr(10))
    sys.stderr.writelines([EVIL, EVIL])
    warnings.warn(EVIL)
    logging.getLogger("stranger").warning(EVIL)
    logging.getLogger("clew").warning(EVIL)
    return EVIL

@tool(effect="read")
def fail(of: str) -> str:
    "Fail."
    raise ValueError(EVIL)
"""


@pytest.mark.parametrize("words", [(), ("--debug",), ("--json",)])
def test_models_and_tools_say_it(words: tuple[str, ...]) -> None:
    Path("own.py").write_text(TOOLS)
    args = msgspec.json.encode({"of": EVIL}).decode()
    script = [
        Say(EVIL, calls=[("fetch", args)]),
        Say(EVIL, calls=[("fail", args), (EVIL, "{}")]),
        Say(EVIL),
    ]
    seen = asked(
        script, "ask", f"Fetch {EVIL}".replace("\x00", ""), "--tools", "own:fetch,own:fail", *words
    )
    assert "EVIL" in seen
    assert acting(seen) == []
    for command in ("show", "diff", "runs"):
        further = ["last"] * {"show": 1, "diff": 2, "runs": 0}[command]
        assert acting(watched(command, *further)) == [], command
    for form in ("--md", "--jsonl", "--json", "--prompt", "--context"):
        assert acting(watched("show", "last", form)) == [], form


def test_a_server_says_it_in_its_errors() -> None:
    seen = asked([Fail(400, EVIL)], "ask", "What?")
    assert "EVIL" in seen
    assert acting(seen) == []
    lines = asked([Fail(400, "no\nclew: all is well\nAllow it? y")], "ask", "What?").splitlines()
    assert not [line for line in lines if line.startswith(("clew: all", "Allow"))]


def test_the_environment_and_files_say_it(tmp_path: Path) -> None:
    name = EVIL.replace("/", "")[:100].encode()[:200].decode(errors="ignore")
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / f"{name}.pdf").write_bytes(b"no PDF")
    (docs / f"{name}.md").write_text(EVIL)
    (tmp_path / f"{name}.toml").write_text(
        f"model = {msgspec.json.encode('openai:' + EVIL).decode()}\nsurprise = 1\n"
    )
    for words, env in (
        (("ask", "x", "--docs", str(docs), "--model", "offline"), {}),
        (("ask", "x", "--agent", str(tmp_path / f"{name}.toml")), {}),
        (("ask", "x", "--model", EVIL), {}),
        (("ask", "x", "--tools", EVIL), {}),
        (("runs",), {"CLEW_STORE": EVIL}),
        (("ask", "x", "--model", "openai:x"), {"OPENAI_BASE_URL": EVIL, "OPENAI_API_KEY": "k"}),
        (("doctor",), {"OPENAI_BASE_URL": f"http://127.0.0.1:9/{EVIL}", "OPENAI_API_KEY": "k"}),
        ((EVIL,), {}),
        (("ask", f"--{EVIL}"), {}),
        (("show", EVIL), {}),
        (("show", EVIL, "--debug"), {}),
    ):
        seen = watched(*(word.replace("\x00", "") for word in words), **env)
        assert seen
        assert acting(seen) == [], words


def test_what_waits_for_a_person_says_it() -> None:
    own_tools()
    Path("guarding.py").write_text(
        "from clew import Verdict\nasync def ask(call, so_far):\n"
        f"    return Verdict('hold', {EVIL!r})\n"
    )
    Path("agent.toml").write_text('tools = ["own:pay"]\nguards = ["guarding:ask"]\n')
    args = msgspec.json.encode({"to": EVIL}).decode()
    script = [Say(EVIL, calls=[("pay", args)])]
    seen = asked(script, "ask", "Pay", "--agent", "agent.toml", typed="\n")
    assert "Allow 1.1 pay?" in seen
    assert acting(seen) == []
    assert acting(watched("approvals")) == []
    seen = watched("approvals", "-i", typed="what\nn\nno\n")
    assert "Allow 1.1 pay?" in seen
    assert acting(seen) == []


def test_an_archive_says_it() -> None:
    clew("ask", "What is 2 + 2?", "--model", "offline")
    clew("records", "export", "--archive", "runs.jsonl")
    lines = Path("runs.jsonl").read_bytes().splitlines()
    evil = msgspec.json.encode(EVIL)
    run_id = msgspec.json.decode(lines[1])["run_id"].encode()
    for number, changed in enumerate(
        (
            [
                *lines[:-1],
                b'{"line":"end","runs":1,"unreadable":[{"run_id":%b,"why":%b}]}' % (evil, evil),
            ],
            [line.replace(b'"%b"' % run_id, evil) for line in lines],
            [line.replace(b"2 + 2", evil[1:-1]) for line in lines],
            [*lines[:1], b'{"line":"run","run_id":"a","base":%b,"shared":1}' % evil, *lines[2:]],
            [evil],
        )
    ):
        Path(f"{number}.jsonl").write_bytes(b"\n".join(changed) + b"\n")
        seen = watched("records", "import", f"{number}.jsonl", "--store", f"{number}.sqlite")
        assert seen
        assert acting(seen) == [], number
    assert acting(watched("runs", "--store", "2.sqlite")) == []
    seen = watched("records", "export", "--archive", "-")
    assert "an archive is not for a terminal" in seen


@pytest.mark.parametrize(
    "hidden", ["a\u3164b", "a\u115fb", "\uffa0", "a b", "a\nb", "a$(b)", "-a", "..", ""]
)
def test_no_run_has_an_id_that_hides_or_acts(hidden: str) -> None:
    clew("ask", "What is 2 + 2?", "--model", "offline")
    clew("records", "export", "--archive", "runs.jsonl")
    lines = Path("runs.jsonl").read_bytes().splitlines()
    run_id = msgspec.json.decode(lines[1])["run_id"].encode()
    changed = [line.replace(b'"%b"' % run_id, msgspec.json.encode(hidden)) for line in lines]
    Path("x.jsonl").write_bytes(b"\n".join(changed) + b"\n")
    done = clew("records", "import", "x.jsonl", "--store", "x.sqlite")
    assert done.code != 0
    assert "0 runs" in done.out + done.err or "may have letters" in done.out + done.err


@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.sampled_from([*PAYLOADS, *(chr(n) for n in range(256)), "\n", "a"])).map("".join)
)
def test_no_text_acts(text: str) -> None:
    with tempfile.TemporaryFile("w+", newline="") as file:
        stream = SafeStream.over(file)
        assert stream.write(text) == len(text)
        stream.flush()
        file.seek(0)
        seen = file.read()
    assert RAW.findall(seen) == []
    assert RAW.findall(printable(text)) == []
    assert "\n" not in json_text(text)
    assert RAW.findall(json_text(text)) == []
    assert msgspec.json.decode(json_text(text)) == text


def test_a_stream_is_made_safe_once() -> None:
    with tempfile.TemporaryFile("w+") as file:
        stream = SafeStream.over(file)
        assert SafeStream.over(stream) is stream
        assert stream.fileno() == file.fileno()
