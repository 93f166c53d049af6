"""`--log-dir`: a run in files beside its record, as it happens.

In a folder of the run's own: `trace.jsonl` (`clew.retention.trace`), `run.log` (a line for each
entry), and at the end, however it comes, `chat.md` for people and `chat.jsonl` (who said what) for
programs.
"""

from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, TextIO

from clew import ConfigError, Entry, Observation, OpenRun, Trajectory
from clew.cli.foreign_runs import pieces_with_origin
from clew.cli.markdown import markdown
from clew.cli.render import render_event
from clew.interfaces import FINISH, Json, Listener, Note, Progress, Started, Stop, Thought, encode
from clew.retention import trace_entry
from clew.support.private_files import make_folder, opener, write_text
from clew.support.run_ids import wrong_id
from clew.support.short_text import cut, one_line

WIDE: Final = 160
"""Characters of a line in `run.log`."""


@contextmanager
def logged(opened: OpenRun[Any], folder: str) -> Generator[None]:
    """Write the run's files while it goes on.

    What the record holds already is written first, so that the files of a resumed run are whole.
    Raises `ConfigError` where the folder cannot be written, or the id of an old run could lead out
    of it.
    """
    if wrong := wrong_id(opened.run_id):
        message = (
            f"the run's id cannot name a folder: {wrong}; leave --log-dir out, or fork the run"
        )
        raise ConfigError(message)
    path, record = Path(folder) / opened.run_id, opened.record
    try:
        make_folder(path)
        with (
            open(path / "trace.jsonl", "w", encoding="utf-8", opener=opener) as trace,
            open(path / "run.log", "w", encoding="utf-8", opener=opener) as log,
        ):
            files = Files(record, trace, log, opened.listener)
            for entry in record.entries:
                files.write(entry)
            opened.listener = files
            try:
                yield
            finally:
                opened.listener = files.beside
                write_text(path / "chat.md", markdown(record, pieces_with_origin(record)))
                told = "".join(f"{encode(line).decode()}\n" for line in chat(record))
                write_text(path / "chat.jsonl", told)
    except OSError as error:
        message = f"the log folder {path} cannot be written ({error.strerror}): name another"
        raise ConfigError(message) from error


class Files:
    """A listener that writes each entry down and passes everything on to the one `beside` it."""

    def __init__(
        self, record: Trajectory, trace: TextIO, log: TextIO, beside: Listener | None
    ) -> None:
        self.beside = beside
        self._record = record
        self._trace = trace
        self._log = log
        self._step = 0

    def token(self, text: str) -> None:
        """Tokens are for the screen."""
        if self.beside is not None:
            self.beside.token(text)

    def entry(self, entry: Entry) -> None:
        """Show an entry, and write it down."""
        if self.beside is not None:
            self.beside.entry(entry)
        self.write(entry)

    def progress(self, call: str, text: str) -> None:
        """How far a call is, which is for the screen too."""
        if isinstance(self.beside, Progress):
            self.beside.progress(call, text)

    def write(self, entry: Entry) -> None:
        """Write an entry into both files."""
        self._step += isinstance(entry.event, Thought)
        for line in trace_entry(self._record, entry, self._step):
            self._trace.write(f"{encode(line).decode()}\n")
        time = next(iter(trace_entry(self._record, entry, self._step)))["time"]
        for piece in render_event(entry.event, self._step):
            text_line = f"{time} {piece.label}: {one_line(piece.text)}"
            self._log.write(f"{cut(text_line, WIDE)}\n")
        self._trace.flush()
        self._log.flush()


def chat(record: Trajectory) -> Iterator[dict[str, Json]]:
    """Who said what: the person, the model, its calls and what came of them, the answer."""
    for entry in record.entries:
        match entry.event:
            case Started(goal=goal):
                yield {"role": "user", "content": goal}
            case Note(text=text, source="person"):
                yield {"role": "user", "content": text}
            case Thought() as thought:
                calls = [
                    {"name": action.name, "input": action.args}
                    for action in thought.actions
                    if action.name != FINISH
                ]
                if thought.text or calls:
                    yield {"role": "assistant", "content": thought.text, "calls": calls}
            case Observation(call=call, content=content):
                name = record.call(call).action.name
                if name != FINISH:
                    yield {"role": "tool", "name": name, "call": call, "output": content}
            case Stop(status=status, reason=reason, answer=answer):
                yield {"role": "assistant", "answer": answer, "status": status, "reason": reason}
            case _:
                pass
