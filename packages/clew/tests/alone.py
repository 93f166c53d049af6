"""Ask again, one by one, what failed beside other tests: `make test-all` does when few failed.

No test may fail because the machine is busy (CONTRIBUTING.md). Where one does all the same, that is
a fault of the test, and it is named here to be mended. But it says nothing about the code, and
must not hold up what was built. CPython's regrtest does the same.
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Final

FAILED: Final = Path(".pytest_cache/v/cache/lastfailed")
FEW: Final = 10
"""If more fail, it is not for want of time. (A server that starts late fails several.)"""


def main() -> int:
    """Ask them again; the exit status is that of pytest, 1 where that was not tried."""
    failed = sorted(json.loads(FAILED.read_text("utf-8"))) if FAILED.exists() else []
    if not 1 <= len(failed) <= FEW:
        return 1
    say(f"failed beside other tests, and asked again by themselves ({len(failed)}):", failed)
    again = [sys.executable, "-m", "pytest", "-n", "0", "--last-failed", "--lfnf"]
    rc = subprocess.run([*again, "none", *sys.argv[1:]], check=False).returncode
    if rc == 0:
        say("these pass by themselves; make them pass beside others:", failed)
    return rc


def say(head: str, names: list[str]) -> None:
    """Print a list under a head."""
    sys.stdout.write("\n  ".join([f"\n{head}", *names]) + "\n\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
