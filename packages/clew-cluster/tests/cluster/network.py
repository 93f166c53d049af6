"""A network of one's own for programs that listen on whatever address they find.

In it are the loopback device and an address on it that looks like an outer one. It takes Linux,
`unshare` and `ip`, and the right to use them. The processes have numbers of their own too: what a
program leaves behind ends with it.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

OUTER = "10.9.8.7"
_SCRIPT = f"""\
ip link set lo up && ip addr add {OUTER}/32 dev lo && ip route add default dev lo || exit 125
"$@"
"""  # not exec: the shell is number 1, which nobody within can kill


def alone(command: Sequence[str]) -> list[str]:
    """The command in a network of its own."""
    rights = [] if os.geteuid() == 0 else ["--map-root-user"]
    spaces = ["--net", "--pid", "--fork", "--mount-proc", "--kill-child"]
    return ["unshare", *rights, *spaces, "sh", "-c", _SCRIPT, "sh", *command]


@cache
def why_not() -> str:
    """Why there can be no such network here; "" if there can."""
    if sys.platform != "linux":
        return "a network of its own takes Linux"
    if missing := [name for name in ("unshare", "ip") if shutil.which(name) is None]:
        return f"a network of its own takes {' and '.join(missing)}, which is not here"
    tried = subprocess.run(alone(["true"]), capture_output=True, text=True, check=False)
    said = " ".join(tried.stderr.split())
    return "" if tried.returncode == 0 else f"no network of its own may be made here: {said}"


def run_alone(
    command: Sequence[str], *, env: Mapping[str, str], timeout: float
) -> subprocess.CompletedProcess[str]:
    """Run a command in a network of its own to its end."""
    return subprocess.run(
        alone(command), env=dict(env), capture_output=True, text=True, timeout=timeout, check=False
    )


def listening() -> list[str]:
    """Addresses that anybody here listens on, loopback left out."""
    loopback = {"0100007F", "0000000000000000FFFF00000100007F", "0" * 24 + "01000000"}
    rows = [
        line.split()
        for name in ("tcp", "tcp6")
        for line in Path(f"/proc/net/{name}").read_text().splitlines()[1:]
    ]
    return [row[1] for row in rows if row[3] == "0A" and row[1].split(":")[0] not in loopback]
