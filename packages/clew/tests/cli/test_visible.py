"""What a person sees of what others wrote: nothing hides, and nothing passes for something else."""

from pathlib import Path

import pytest

from clew.cli.safe_text import json_text
from clew.support.printable import inert
from clew_testing.servers.openai_server import OpenAIServer, Say
from tests.cli.shell import clew, own_tools

SEEN = {
    "a\u200bb": r"a\u200bb",
    "pay\u2028Allow": r"pay\u2028Allow",
    "to\U000e0041\U000e007f": r"to\U000e0041\U000e007f",
    "\u202egpj.exe": r"\u202egpj.exe",
    "x\u2066y\u2069\ufeff\xad": r"x\u2066y\u2069\ufeff\xad",
    "\x9b31m\x1b[0m": r"\x9b31m\x1b[0m",
    "a\u200db": r"a\u200db",
    "p\u0430ypal": r"p\u0430ypal",
    "\u0440\u0430\u0443\u0440\u0430.com": r"\u0440\u0430\u0443\u0440\u0430.com",
    "me@\u0430\u0441\u0435.org": r"me@\u0430\u0441\u0435.org",
    # what people write stays as it is
    "Привет, мир": "Привет, мир",
    "документ.pdf": "документ.pdf",
    "mail.ru/почта": "mail.ru/почта",
    "δx = 3 µm, Ω": "δx = 3 µm, Ω",
    "👩\u200d🔬 می\u200cخواهم": "👩\u200d🔬 می\u200cخواهم",
    "naïve — “so”…": "naïve — “so”…",
    "日本語のテキスト": "日本語のテキスト",
    "one\r\ntwo\tthree": "one\ntwo\tthree",
}


@pytest.mark.parametrize("text", SEEN)
def test_what_is_shown(text: str) -> None:
    assert inert(text) == SEEN[text]


def test_json_holds_nothing_that_acts_on_a_terminal() -> None:
    text = "a\u009b31m\u202eb\u200bc\U000e0041\x7fж"
    said = json_text({"to": text})
    assert said == r'{"to":"a\u009b31m\u202eb\u200bc\udb40\udc41\u007fж"}'


GUARD = """
from clew import Verdict
async def ask(call, so_far):
    return Verdict("hold", "is it right\\u200b?")
"""
TO = "p\u0430ul\u200b\u202e\U000e0041\u009b"
SHOWN = r"p\u0430ul\u200b\u202e\U000e0041\x9b"


def test_a_person_decides_by_what_is_there() -> None:
    own_tools()
    Path("guarding.py").write_text(GUARD)
    Path("agent.toml").write_text(
        'model = "openai:test"\ntools = ["own:pay"]\nguards = ["guarding:ask"]\n'
    )
    script = [Say(calls=[("pay", '{"to": "' + TO + '"}')])]
    with OpenAIServer(script) as server:
        env = {"OPENAI_BASE_URL": server.base_url, "OPENAI_API_KEY": "sk-test-0123456789"}
        held = clew("ask", "Pay Paul", "--agent", "agent.toml", env=env)
    assert held.code == 4
    approvals = clew("approvals")
    shown = clew("show", "last")
    word = clew("approve", "last", "--yes", "--no-resume")
    for seen in (held, approvals, shown, word, clew("diff", "last", "last")):
        for hidden in TO[1], *TO[4:]:
            assert hidden not in seen.out
    for seen in (held, approvals, shown, word):
        assert SHOWN in seen.out
    for command in (("approvals",), ("show", "last")):
        said = clew(*command, "--json").out
        assert not {*"\u200b\u202e\U000e0041\u009b"} & {*said}
