"""Which texts are blotted out, shape by shape, and what then stands in events and calls."""

import base64
from typing import Any

import pytest

from clew.core.actions import Action
from clew.core.contents import Observation
from clew.core.events import Judged, Ruling, Suspended
from clew.core.redaction import (
    BLOT,
    SECRET_NAMES,
    Redaction,
    blots_out,
    marked_as,
    redact,
    secrets,
)
from clew.core.steps import Call
from clew.core.values import encode
from clew.core.verdicts import Verdict
from tests.core.records import look, thought

SECRET = "Sesame/oil+7"
REDACTION = Redaction([SECRET])

SHAPED = [
    "AKIA" + "A1" * 8,
    "ASIA" + "A1" * 8,
    "ghp_" + "a" * 36,
    "gho_" + "a" * 36,
    "ghu_" + "a" * 36,
    "ghs_" + "a" * 36,
    "ghr_" + "a" * 36,
    "glpat-" + "a" * 20,
    "xoxa-" + "a" * 10,
    "xoxb-" + "a" * 10,
    "xoxp-" + "a" * 10,
    "xoxr-" + "a" * 10,
    "xoxs-" + "a" * 10,
    "AIza" + "a" * 35,
    "sk-" + "a" * 32,
    "sk-ant-" + "a" * 32,
    "sk-proj-" + "a" * 32,
    "-----BEGIN PRIVATE KEY-----\nabc\n-----END PRIVATE KEY-----",
    "-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----",
    "-----BEGIN OPENSSH PRIVATE KEY-----\nabc",
]


@pytest.mark.parametrize("text", SHAPED)
def test_a_shape_is_blotted_out_alone(text: str) -> None:
    end = "" if text.endswith("abc") else " end"
    assert Redaction().cleaned(f"it is {text}{end}") == f"it is {BLOT}{end}"
    if "KEY" not in text and "sk-" not in text:
        assert Redaction().cleaned(text[:-1]) == text[:-1], "one letter less is none"


def test_what_stands_beside_a_shape_stays() -> None:
    clean = Redaction().cleaned
    assert clean("Authorization: Bearer " + "a" * 16) == f"Authorization: Bearer {BLOT}"
    assert clean("Bearer " + "a" * 15) == "Bearer " + "a" * 15
    assert clean("postgres://ada:pass@host/db") == f"postgres://{BLOT}@host/db"
    assert clean("postgres://ada:${PASS}@host/db") == "postgres://ada:${PASS}@host/db"
    assert clean("http://host:80/a@b") == "http://host:80/a@b"


FORMS = [
    SECRET,
    SECRET.lower(),
    SECRET.upper(),
    SECRET.replace("/", "\\/"),
    SECRET.encode().hex(),
    SECRET.encode().hex().upper(),
    "Sesame%2Foil%2B7",
    "U2VzYW1lL29pbCs3",
]


@pytest.mark.parametrize("form", FORMS)
def test_a_secret_is_blotted_out_in_each_form(form: str) -> None:
    assert REDACTION.finds(encode(f"a {form} b"))
    assert REDACTION.cleaned(f"a {form} b") == f"a {BLOT} b"


@pytest.mark.parametrize(("before", "first", "last"), [("", 0, 10), ("a", 2, 12), ("ab", 3, 13)])
@pytest.mark.parametrize("safe", [True, False])
def test_a_secret_is_found_in_base64_wherever_it_stands(
    before: str, first: int, last: int, safe: bool
) -> None:
    secret = "??>>??>>"
    encoded = (base64.urlsafe_b64encode if safe else base64.b64encode)(
        f"{before}{secret}rest".encode()
    ).decode()
    cleaned = Redaction([secret]).cleaned(encoded)
    assert cleaned == f"{encoded[:first]}{BLOT}{encoded[last:]}"


def test_a_secret_with_blanks_and_quotes_is_found_in_urls_and_json() -> None:
    one = Redaction(['so "so" é'])
    for form in (
        "so%20%22so%22%20%C3%A9",
        "so+%22so%22+%C3%A9",
        'so \\"so\\" é',
        'so \\"so\\" \\u00e9',
        'so \\\\\\"so\\\\\\" \\\\u00e9',
    ):
        assert one.cleaned(f"[{form}]") == f"[{BLOT}]"  # fmt: skip


def test_a_longer_secret_comes_first() -> None:
    assert Redaction(["abcdef", "abcdefgh"]).cleaned("abcdefgh") == BLOT


@pytest.mark.parametrize("chars", [5, 6])
def test_a_text_of_six_characters_can_be_a_secret(chars: int) -> None:
    assert blots_out("x" * chars) == (chars == 6)
    assert (Redaction(["q" * chars]).cleaned("q" * chars) == BLOT) == (chars == 6)


def test_values_of_all_kinds_are_cleaned() -> None:
    value: Any = {SECRET: [SECRET, 1, None, {"a": (SECRET, True)}], "b": 1.5}
    assert REDACTION.cleaned(value) == {BLOT: [BLOT, 1, None, {"a": (BLOT, True)}], "b": 1.5}
    harmless = {"a": [1]}
    assert REDACTION.cleaned(harmless) is harmless


def test_arguments_are_marked_and_kept_for_the_worker() -> None:
    one = Redaction([SECRET])
    event: Any = one.event(thought(look(x=SECRET), look(x=1), text=SECRET), 3)
    assert [action.redacted for action in event.actions] == [True, False]
    assert event.text == BLOT
    call = Call("3.1", event.actions[0])
    real = one.with_secrets(call)
    assert real is not None
    assert (real.args, real.redacted, real.key) == ({"x": SECRET}, False, "3.1")
    plain = Call("3.2", event.actions[1])
    assert one.with_secrets(plain) is plain
    assert one.with_secrets(Call("4.1", event.actions[0])) is None
    assert Redaction([SECRET]).with_secrets(call) is None
    later: Any = one.event(Ruling("3.2", allow=True, args={"x": [SECRET]}), 3)
    assert later == Ruling("3.2", allow=True, args={"x": [BLOT]}, redacted=True)
    ruled = Call("3.2", look(x=1), revised=later.args, revision_redacted=True)
    real = one.with_secrets(ruled)
    assert real is not None
    assert (real.args, real.revised) == ({"x": [SECRET]}, None)
    assert one.with_secrets(call) is not None, "what was kept before is kept on"


def test_each_kind_of_event_says_that_its_arguments_differ() -> None:
    one = Redaction([SECRET])
    amend = Judged("1.1", Verdict("amend", SECRET, args={"x": SECRET}), "g")
    assert one.event(amend) == Judged(
        "1.1", Verdict("amend", BLOT, args={"x": BLOT}, redacted=True), "g"
    )
    kept = Call("1.1", look(), revised={"x": BLOT}, revision_redacted=True)
    assert (one.with_secrets(kept) or kept).args == {"x": SECRET}
    hint = Judged("1.1", Verdict("hint", SECRET), "g")
    assert one.event(hint) == Judged("1.1", Verdict("hint", BLOT), "g")
    why = Ruling("1.1", allow=True, why=SECRET)
    assert one.event(why) == Ruling("1.1", allow=True, why=BLOT)
    marked = Ruling("1.1", allow=True, args={"x": 1}, redacted=True, why=SECRET)
    assert one.event(marked) == Ruling("1.1", allow=True, args={"x": 1}, redacted=True, why=BLOT)
    asks = Suspended("1.1", (look(x=SECRET), look(x=1)), b"state")
    assert one.event(asks) == Suspended(
        "1.1", (Action("look", {"x": BLOT}, redacted=True), look(x=1)), b""
    )
    assert one.event(Observation("1.1", SECRET)) == Observation("1.1", BLOT)


def test_a_reply_that_is_read_again_has_the_marks_of_the_record() -> None:
    old = thought(Action("look", {"x": BLOT}, redacted=True), look())
    new = thought(look(x=BLOT), look(), text="t")
    assert marked_as(old, new) == thought(*old.actions, text="t")
    fewer = thought(look())
    assert marked_as(old, fewer) is fewer


@pytest.mark.parametrize(
    ("name", "secret"),
    [
        ("API_KEY", True), ("OPENAI_APIKEY", True), ("my_secret_key", True), ("ACCESSKEY", True),
        ("A_PRIVATE_KEY", True), ("ACCOUNT_KEY", True), ("AUTH", True), ("GH_TOKEN", True),
        ("SECRET", True), ("DB_PASSWORD", True), ("DB_PASSWD", True), ("DB_PASS", True),
        ("PASSPHRASE", True), ("CREDENTIALS", True), ("PGPASSWORD", True), ("X_KEY_SECRET", True),
        ("AWS_SECRET_ACCESS_KEY", True), ("KEY", False), ("BYPASS", False), ("TOKENS", False),
        ("AUTHOR", False), ("MYTOKEN", False),
    ],
)  # fmt: skip
def test_names_of_variables_tell_secrets(name: str, secret: bool) -> None:
    assert (SECRET_NAMES.match(name) is not None) == secret


def test_secrets_of_the_environment_are_long_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ONE_TOKEN", "q" * 7)
    monkeypatch.setenv("TWO_TOKEN", "w" * 8)
    monkeypatch.setenv("THREE_URL", "db://ada:eeeeeeee@host db://bob:rrrrrrrr@host")
    monkeypatch.setenv("FOUR", "t" * 8)
    found = secrets()
    assert {"w" * 8, "e" * 8, "r" * 8} <= {*found}
    assert not {"q" * 7, "t" * 8} & {*found}
    assert redact(["w" * 8, "t" * 8]) == [BLOT, "t" * 8]
