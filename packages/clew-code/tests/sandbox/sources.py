"""Where the packages are, for a program in the sandbox that imports them."""

import os
from pathlib import Path
from typing import Final

import clew
import clew_code.sandbox

SOURCES: Final = (
    str(Path(clew.__file__).parents[1]),
    str(Path(clew_code.sandbox.__file__).parents[2]),
)
IMPORTS: Final = {"PYTHONPATH": os.pathsep.join(SOURCES)}
