"""`curl` alone drives a held run to its end: begins it, follows it, rules and follows on."""

import json
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.shell import begin, until_told
from tests.patience import PATIENCE

pytestmark = pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")

AGENT = """
from pathlib import Path
from clew import Agent, tool
from clew.testing import ScriptedModel, act, finish

@tool(effect="unsafe", approve="letters need a person")
def send(text: str) -> str:
    "Send a letter."
    with Path("sent").open("a") as file:
        file.write(text + "\\n")
    return "sent"

script = [act("send", text="Dear Ada"), finish("It is sent.")]
writer = Agent(ScriptedModel(script, tools=[send]), tools=[send])
"""


class Curl:
    """The program, at a server and with a token."""

    def __init__(self, url: str, token: str) -> None:
        self.url = url
        self.always = ["curl", "-sS", "--fail-with-body", "-H", f"authorization: Bearer {token}"]

    def __call__(self, path: str, body: Any = None) -> Any:
        """What the server answers; a request with a body is a POST."""
        more = [] if body is None else ["--json", json.dumps(body)]
        done = subprocess.run(
            [*self.always, *more, f"{self.url}{path}"],
            check=False, capture_output=True, text=True, timeout=PATIENCE,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        return json.loads(done.stdout)

    def events(self, path: str, last: str = "") -> list[tuple[str, Any]]:
        """Ids and data of the events behind `last`: the stream ends as the run stops."""
        more = ["-H", f"last-event-id: {last}"] if last else []
        done = subprocess.run(
            [*self.always, "-N", *more, f"{self.url}{path}"],
            check=True, capture_output=True, text=True, timeout=PATIENCE,
        )  # fmt: skip
        return [*_events(done.stdout)]


def _events(stream: str) -> Iterator[tuple[str, Any]]:
    """The events of a stream that has them (the field names are those of the HTML standard)."""
    for event in stream.replace("\r\n", "\n").split("\n\n"):
        parts = [line.partition(": ") for line in event.splitlines()]
        fields = {name: value for name, _, value in parts}
        if fields.get("data"):
            yield fields.get("id", ""), json.loads(fields["data"])


def test_curl_drives_a_held_run_to_its_end() -> None:
    Path("letters.py").write_text(AGENT)
    process = begin("serve", "letters:writer", "--port", "0", "--store", "runs.sqlite")
    until_told(process, "\n")
    url, _, token = process.trajectory(2).rpartition(" ")[2].strip().partition("?token=")
    curl = Curl(url.rstrip("/"), token)
    new = {"agent": "writer", "question": "Write to Ada.", "request": "letter-1"}
    run = curl("/api/runs", new)["run_id"]
    assert curl("/api/runs", new)["run_id"] == run  # as a client that retries
    events = curl.events(f"/api/runs/{run}/events")
    assert events[-1][1]["event"] == "stop"
    assert not Path("sent").exists()
    (held,) = curl("/api/inbox")["held"]
    curl(f"/api/rulings/{held['id']}", {"allow": True, "args": {"text": "Dear Ada, come."}})
    later = curl.events(f"/api/runs/{run}/events", last=events[-1][0])
    numbers = [data["seq"] for _, data in (*events, *later) if "seq" in data]
    entries = curl(f"/api/runs/{run}/entries")["entries"]
    assert numbers == [each["seq"] for each in entries]
    state = curl(f"/api/runs/{run}")
    assert (state["status"], state["answer"]) == ("answered", "It is sent.")
    assert Path("sent").read_text() == "Dear Ada, come.\n"
    process.send_signal(signal.SIGTERM)
    assert process.wait(PATIENCE) == 0
