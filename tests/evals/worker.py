"""`clew eval` in processes of its own: each line of the input, a JSON list of words, starts one.

They are forked from this process when it has imported what they need, so that only it takes that
time. It says each one's process id, and its exit status when it has ended.
"""

import json
import os
import sys

import openai  # noqa: F401 - loaded here once for all

import clew.cli.evaluating  # noqa: F401 - likewise
from clew.cli import main as command


def main() -> None:
    """Fork a process for each line, until there are no more."""
    for line in os.fdopen(os.dup(0)):  # stdin itself is the command's
        if not (child := os.fork()):
            sys.argv[1:] = json.loads(line)
            command(sys.argv[1:])
            return
        sys.stdout.write(f"{child}\n")
        sys.stdout.flush()
        _, status = os.waitpid(child, 0)
        sys.stdout.write(f"exit {os.waitstatus_to_exitcode(status)}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
