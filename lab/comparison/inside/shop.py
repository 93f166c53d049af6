"""What the three applications stand on: a shop whose payments are lines of a file.

`pay` writes its line and, once in a folder with a file `kill`, dies before anybody hears of it.
"""

import os
import signal
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PAYMENTS = Path("payments.txt")
KILL = Path("kill")


@dataclass
class Shop:
    """The shop as one user sees it."""

    user: str

    def order(self, order: str) -> dict[str, Any]:
        """An order of the user."""
        return {"order": order, "user": self.user, "paid": 80.0}

    def refund(self, order: str, amount: float, key: str = "") -> str:
        """Pay an amount back, whatever was paid before."""
        with PAYMENTS.open("a") as file:
            file.write(f"{self.user} {order} {amount} {key}\n")
            file.flush()
            os.fsync(file.fileno())
        if KILL.exists():
            KILL.unlink()
            os.kill(os.getpid(), signal.SIGKILL)
        return f"refunded {amount}"
