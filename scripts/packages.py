"""What packages of clew stand on which others.

    python scripts/packages.py evals,clew-mcp

Prints the folders of clew, with what reads documents, of these packages, and of those that they
require: pip has to be given all of them at once, since none of them is on an index.
"""

import re
import sys
import tomllib
from pathlib import Path

PACKAGES = Path(__file__).parent.parent / "packages"


def required(package: str) -> list[str]:
    """The packages of clew that one needs, itself last."""
    file = PACKAGES / package / "pyproject.toml"
    if not file.is_file():
        known = ", ".join(
            sorted(path.name.removeprefix("clew-") for path in PACKAGES.glob("clew-*"))
        )
        raise SystemExit(f"there is no package {package}: WITH takes {known}")
    needs = tomllib.loads(file.read_text("utf-8"))["project"]["dependencies"]
    names = [re.split(r"[^\w-]", need)[0] for need in needs]
    ours = [name for name in names if (PACKAGES / name).is_dir()]
    return [*dict.fromkeys(one for name in ours for one in required(name)), package]


if __name__ == "__main__":
    asked = [
        f"clew-{name.removeprefix('clew-')}"
        for name in re.findall(r"[\w-]+", " ".join(sys.argv[1:]))
    ]
    found = dict.fromkeys(one for name in ["clew", *asked] for one in required(name))
    print("clew[documents]", *[name for name in found if name != "clew"])
