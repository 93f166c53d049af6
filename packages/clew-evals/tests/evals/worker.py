"""`clew` in processes of its own: each line of the input, a JSON list of words, starts one.

They are forked from this process when it has imported what they need, so that only it takes that
time. It says each one's process id, and its exit status when it has ended.
"""

import json
import os
import sys
from pathlib import Path

import clew.models.openai.chat  # noqa: F401 - both are loaded here once for all
from clew.cli import main as command


def main() -> None:
    """Fork a process for each line, until there are no more."""
    for line in os.fdopen(os.dup(0)):  # stdin itself is the command's
        if not (child := os.fork()):
            folder, *words = json.loads(line)
            for name, descriptor in (("out", 1), ("err", 2)):
                os.dup2(
                    os.open(Path(folder, name), os.O_CREAT | os.O_TRUNC | os.O_WRONLY), descriptor
                )
            sys.argv[1:] = words
            command(words)
            return
        sys.stdout.write(f"{child}\n")
        sys.stdout.flush()
        _, status = os.waitpid(child, 0)
        sys.stdout.write(f"exit {os.waitstatus_to_exitcode(status)}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
