"""`clew ask`: one question, from the shell to the answer and its record."""

import json
import re
from pathlib import Path

import pytest

from clew_testing.servers.openai_server import Fail, OpenAIServer, Say
from tests.cli.shell import RUN_ID, clew, library, own_tools

KEY = "sk-very-secret-0123456789"


def with_model(server: OpenAIServer) -> dict[str, str]:
    return {"OPENAI_BASE_URL": server.base_url, "OPENAI_API_KEY": KEY}


def test_a_sum_is_worked_out_and_the_whole_way_is_shown() -> None:
    done = clew("ask", "What is 9876543 * 1234567?")
    assert done.code == 0
    assert re.search(r"^Thought 1: ", done.out, re.MULTILINE)
    assert re.search(r'^Action 1\.1: calc\(expression="', done.out, re.MULTILINE)
    assert re.search(r"^Observation 1\.1: ", done.out, re.MULTILINE)
    assert "Answer: " in done.out
    assert "12193254061881" in done.out.split("Answer: ")[1]
    assert re.search(
        rf"answered · 2 steps · .* tokens · \$0\.0000 · run {RUN_ID}$", done.out.strip()
    )
    assert "Model: offline (no key is set" in done.err
    assert "\x1b" not in done.out + done.err


def test_documents_are_searched_and_cited_by_path_and_title() -> None:
    done = clew("ask", "When was the author of Frankenstein born?", "--docs", library())
    assert done.code == 0
    assert "1797" in done.out.split("Answer: ")[1]
    assert re.search(r"^\[doc_\d\]: mary\.md · Mary Shelley \(score ", done.out, re.MULTILINE)


def test_references_stand_at_the_end_of_the_answer_where_they_are_asked_for() -> None:
    question = "When was Mary Shelley born?"
    told = clew("ask", question, "--docs", library(), "--references", "--quiet").out
    answer = told.split("Answer: ")[1]
    assert "[1]" in answer.split("References:")[0]
    assert re.search(r"^  \[1\] mary\.md · Mary Shelley \(score ", answer, re.MULTILINE)
    assert "[doc_" not in told  # nor are they listed twice
    again = clew("resume", "last", "--say", question, "--json").document
    assert "\n[1] mary.md · Mary Shelley (score " in again["answer"]  # the run remembers
    assert [one["source"] for one in again["cited"]] == ["mary.md"]
    entries = clew("show", "last", "--json").document["entries"]
    assert "[doc_" in entries[-1]["answer"]
    assert "References:" not in json.dumps(entries)


def test_what_cannot_be_searched_is_said() -> None:
    folder = library()
    Path(folder, "picture.bin").write_bytes(bytes(range(256)) * 8)
    done = clew("ask", "When was Mary Shelley born?", "--docs", folder, "--debug")
    assert done.code == 0
    assert "Not searched: picture.bin: " in done.out
    assert "Documents: 2 files" in done.out


def test_of_much_that_cannot_be_searched_some_is_named() -> None:
    folder = library()
    for number in range(8):
        Path(folder, f"{number}.bin").write_bytes(bytes(range(256)))
    Path(folder, "latin.txt").write_bytes("Café".encode("latin-1"))
    words = ("ask", "When was Mary Shelley born?", "--docs", folder)
    usual = clew(*words).out
    assert re.findall(r"^Not searched: (.*)$", usual, re.MULTILINE) == [
        *(f"{number}.bin: not text, HTML or PDF" for number in range(5)),
        "3 more (--debug names them)",
    ]
    whole = clew(*words, "--debug").out
    assert len(re.findall("^Not searched: ", whole, re.MULTILINE)) == 8
    assert "Documents: latin.txt: not UTF-8: read as cp1252" in whole
    assert len(re.findall("^Answer: ", whole, re.MULTILINE)) == 1


def test_json_is_one_document_and_nothing_else() -> None:
    done = clew("ask", "When was Mary Shelley born?", "--docs", library(), "--json")
    assert done.code == 0
    found = done.document
    assert found["status"] == "answered"
    assert found["ok"] is True
    assert "1797" in found["answer"]
    assert found["cited"][0]["source"] == "mary.md"
    assert found["cited"][0]["title"] == "Mary Shelley"
    assert found["usage"]["cost"] == 0.0
    assert found["settings"] == {}
    assert (found["model"], found["model_chosen"][:13]) == ("offline", "no key is set")
    assert re.fullmatch(RUN_ID, found["run_id"])
    assert done.out.count("\n") == 1


SIGNED = "answered by clew's offline rules, not by a language model"


@pytest.mark.parametrize(
    ("question", "options", "status"),
    [
        ("What is 17 * 23?", [], "answered"),
        ("When was Mary Shelley born?", [], "answered"),
        ("What is 17 * 23?", ["--steps", "1"], "bound"),
        ("When did Mary Shelley sell the house?", [], "declined"),
        ("hello", [], "answered"),
    ],
)
def test_what_is_said_beside_an_answer_is_no_part_of_it(
    question: str, options: list[str], status: str
) -> None:
    asked = ("ask", question, "--docs", library(), "--model", "offline", *options)
    found = clew(*asked, "--json").document
    assert (found["status"], found["note"]) == (status, SIGNED)
    assert SIGNED not in found["answer"]
    assert f"\n  ({SIGNED})\n" in clew(*asked, "--quiet").out
    shown = clew("show", "last").out
    assert re.search(rf"^Note \d: {SIGNED}$", shown, re.MULTILINE)
    assert shown.count(SIGNED) == 1


def test_quiet_shows_the_end_only() -> None:
    done = clew("ask", "What is 2+3?", "--quiet")
    assert done.out.strip().startswith("Answer: ")
    assert "Thought" not in done.out


def test_the_question_may_come_from_stdin() -> None:
    done = clew("ask", "-", "--json", stdin="What is 2**64?\n")
    assert done.document["question"] == "What is 2**64?"
    assert "18446744073709551616" in done.document["answer"]


def test_a_model_is_asked_over_http_and_its_cost_is_told() -> None:
    script = [Say("Let me see.", calls=[("calc", '{"expression": "6*7"}')]), Say("It is 42.")]
    with OpenAIServer(script) as server:
        done = clew("ask", "What is six times seven?", env=with_model(server))
    assert done.code == 0
    where = f"OPENAI_API_KEY is set; at {server.base_url}, by OPENAI_BASE_URL"
    assert f"Model: openai:gpt-4.1-mini ({where})" in done.err
    assert "Thought 1: Let me see." in done.out
    assert "Answer: It is 42." in done.out
    assert re.search(r"2 steps · [\d,]+ tokens · \$0\.\d{4} · run", done.out)
    assert KEY not in done.out + done.err


@pytest.mark.parametrize("format_", ["paper", "labelled", "json"])
def test_the_format_of_the_actions_can_be_chosen(format_: str) -> None:
    replies = {
        "paper": ["Thought 1: Hm.\nAction 1: calc[6*7]", "Thought 2: Done.\nAction 2: Finish[42]"],
        "labelled": [
            'Thought: Hm.\nAction: calc\nAction Input: {"expression": "6*7"}',
            "Thought: Done.\nFinal Answer: 42",
        ],
        "json": [
            '{"thought": "Hm.", "action": "calc", "args": {"expression": "6*7"}}',
            '{"thought": "Done.", "action": "finish", "args": {"answer": "42"}}',
        ],
    }
    with OpenAIServer([Say(reply) for reply in replies[format_]]) as server:
        options = ("--model", "openai:test", "--codec", format_, "--json")
        done = clew("ask", "What is 6*7?", *options, env=with_model(server))
    assert (done.code, done.document["answer"]) == (0, "42")


def test_a_bound_ends_with_the_best_answer_and_code_3() -> None:
    script = [Say(calls=[("calc", '{"expression": "1+1"}')]), Say("Perhaps 2.")]
    with OpenAIServer(script) as server:
        options = ("--model", "openai:test", "--steps", "1")
        done = clew("ask", "What is 1+1?", *options, env=with_model(server))
    assert done.code == 3
    assert "Answer: Perhaps 2." in done.out
    assert "Stopped: steps" in done.out
    assert re.search(rf"Go on: clew resume {RUN_ID} --accept-change --set limits.steps=N", done.out)


def test_a_model_that_fails_leaves_an_open_record_that_resumes() -> None:
    with OpenAIServer([Fail(401, "bad key"), Say("It is 42.")]) as server:
        options = ("--model", "openai:test")
        failed = clew("ask", "What is six times seven?", *options, env=with_model(server))
        assert failed.code == 5
        assert re.search(
            rf"the record is open, go on with: clew resume {RUN_ID}$", failed.err.strip()
        )
        resumed = clew("resume", "last", env=with_model(server))
    assert resumed.code == 0
    assert "Answer: It is 42." in resumed.out


def test_a_failure_is_told_to_programs_too() -> None:
    with OpenAIServer([Fail(400, "no such parameter")]) as server:
        done = clew("ask", "hm?", "--model", "openai:test", "--json", env=with_model(server))
    assert done.code == 5
    assert (done.document["status"], done.document["answer"]) == ("open", None)
    assert done.document["reason"]


def test_a_key_is_never_recorded_nor_shown() -> None:
    Path(".env").write_text(f"OPENAI_API_KEY={KEY}\n")
    script = [Say(f"your key is {KEY}", calls=[("calc", '{"expression": "1"}')]), Say(KEY)]
    with OpenAIServer(script) as server:
        done = clew("ask", "What is my key?", env={"OPENAI_BASE_URL": server.base_url})
        assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"
    shown = clew("show", "last", "--json")
    assert done.code == shown.code == 0
    assert KEY not in done.out + done.err + shown.out
    assert "[redacted]" in shown.out
    stored = b"".join(path.read_bytes() for path in Path().glob("store*"))
    assert KEY.encode() not in stored


def test_the_env_file_is_found_above(monkeypatch: pytest.MonkeyPatch) -> None:
    Path(".env").write_text(f"OPENAI_API_KEY={KEY}\n")
    Path("deep/below").mkdir(parents=True)
    monkeypatch.chdir("deep/below")
    with OpenAIServer([Say("Hello.")]) as server:
        assert clew("ask", "Hm?", env={"OPENAI_BASE_URL": server.base_url}).code == 0
        assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize(
    "name",
    [
        *("OPENAI_BASE_URL", "ANTHROPIC_BASE_URL", "GEMINI_BASE_URL", "OLLAMA_BASE_URL"),
        *("HTTPS_PROXY", "http_proxy", "ALL_PROXY", "NO_PROXY"),
        *("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE"),
        *(
            "CLEW_WEB_HOSTS",
            "CLEW_STORE",
            "CLEW_MEMORY",
            "HF_ENDPOINT",
            "OTEL_EXPORTER_OTLP_ENDPOINT",
        ),
    ],
)
@pytest.mark.parametrize("below", ["", "deep", "deep/below"])
@pytest.mark.share(3)
def test_a_folder_names_no_address(name: str, below: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever can write a folder's `.env` would get the environment's key, and every question."""
    monkeypatch.delenv(name, raising=False)
    with OpenAIServer([Say("mine")] * 3) as server, OpenAIServer([Say("yours")] * 3) as other:
        Path(".env").write_text(f"{name}={other.base_url}\n")
        Path(below).mkdir(parents=True, exist_ok=True)
        monkeypatch.chdir(below or ".")
        env = {"OPENAI_API_KEY": KEY}
        if name != "OPENAI_BASE_URL":
            env["OPENAI_BASE_URL"] = server.base_url
        store = [] if name != "CLEW_STORE" else ["--store", "here"]
        options = (*store, "--model", "openai:test" if len(env) > 1 else "offline")
        done = clew("ask", "What is 2+3?", *options, env=env)
        assert done.code == 0, done.err
        assert not other.requests
    assert f".env: {name} not taken: a folder gives keys only" in done.err


def test_other_lines_of_an_env_file_set_nothing_and_say_nothing() -> None:
    Path(".env").write_text("DATABASE_URL=postgres://x\nPATH=/nowhere\nPYTHONPATH=.\nFOO_TOKEN=x\n")
    done = clew("ask", "What is 2+3?", "--model", "offline")
    assert (done.code, done.err) == (0, "")


def test_the_model_line_names_another_address() -> None:
    with OpenAIServer([Say("Hello.")]) as server:
        done = clew("ask", "Hm?", env=with_model(server))
    assert f"at {server.base_url}, by OPENAI_BASE_URL)" in done.err


def test_a_users_own_tools_are_imported_from_the_working_folder() -> None:
    own_tools()
    with OpenAIServer([Say(calls=[("pay", '{"to": "Ann"}')]), Say("Done.")]) as server:
        options = ("--model", "openai:test", "--tools", "calc,own:both")
        done = clew("ask", "Pay Ann.", *options, env=with_model(server))
    assert done.code == 0
    assert "Observation 1.1: paid Ann" in done.out
    assert Path("paid").read_text() == "Ann\n"


def test_escape_sequences_of_a_model_do_not_reach_the_terminal() -> None:
    with OpenAIServer([Say("\x1b[2Jgone \u202e\x07")]) as server:
        done = clew("ask", "Hm?", "--model", "openai:test", env=with_model(server))
    assert "\x1b" not in done.out
    assert "Answer: \\x1b[2Jgone \\u202e\\x07" in done.out


def test_what_the_rules_cannot_work_out_is_declined_with_the_passage() -> None:
    asked = ("ask", "When did Mary Shelley sell the house?", "--docs", library())
    done = clew(*asked, "--quiet")
    assert done.code == 7
    assert done.out.lstrip().startswith(
        "Declined: These passages look relevant, but my rules cannot"
    )
    assert "mary.md · Mary Shelley" in done.out
    assert "declined · 2 steps" in done.out
    assert "Stopped" not in done.out
    document = json.loads(clew(*asked, "--json").out)
    assert (document["status"], document["ok"]) == ("declined", False)
    assert [piece["source"] for piece in document["cited"]][:1] == ["mary.md"]


def test_hello_is_told_in_plain_words_what_to_ask() -> None:
    done = clew("ask", "hello", "--quiet")
    assert done.code == 0
    assert done.out.lstrip().startswith("Answer: I am a set of rules, not a language model.")
