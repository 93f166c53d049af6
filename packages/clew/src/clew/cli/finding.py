"""What `clew doctor` tells of each thing that it looks at."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at."""

    area: str
    name: str
    usable: bool
    detail: str
