"""Kill a process in the middle of an effect, and go on without doing it twice.

A child process sends a letter and is killed before it can record that. The parent resumes the run:
nobody knows whether the letter went out; the model is told so, and looks into the outbox. Prints:

    the child was killed by signal 9; its record: Started, Thought, Attempt
    send_letter -> ERROR: unknown: send_letter was begun, but nobody saw how it ended: …
    look_into_outbox -> Dear Ada
    answered: the letter had gone out; letters sent: 1
"""

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from clew import Agent, run_sync, sync, tool
from clew.testing import ScriptedModel, act, finish


def make_agent(outbox: Path) -> Agent:
    @tool(effect="unsafe")
    def send_letter(text: str) -> None:
        """Send a letter."""
        with outbox.open("a") as file:
            file.write(f"{text}\n")
        os.kill(os.getpid(), signal.SIGKILL)  # the power fails

    @tool(effect="read")
    def look_into_outbox() -> str:
        """Read what was sent."""
        return outbox.read_text().strip()

    send, look = act("send_letter", text="Dear Ada"), act("look_into_outbox")
    model = ScriptedModel([send, look, finish("the letter had gone out")])
    return Agent(model=model, tools=[send_letter, look_into_outbox])


def main(folder: Path) -> None:
    store = folder / "runs.sqlite"
    child = subprocess.run([sys.executable, __file__, folder], check=False)
    written = [type(entry.event).__name__ for entry in sync.read("letter", store=store).entries]
    print(f"the child was killed by signal {-child.returncode}; its record: {', '.join(written)}")
    result = sync.resume(make_agent(folder / "outbox"), "letter", store=store)
    for call in sync.read("letter", store=store).calls[:2]:
        print(call.action.name, "->", call.observation.text if call.observation else "nothing")
    letters = (folder / "outbox").read_text().splitlines()
    print(f"{result.status}: {result.answer}; letters sent: {len(letters)}")


if __name__ == "__main__":
    if sys.argv[1:]:
        here = Path(sys.argv[1])
        run_sync(make_agent(here / "outbox"), "Write", store=here / "runs.sqlite", run_id="letter")
    else:
        with tempfile.TemporaryDirectory() as temporary:
            main(Path(temporary))
