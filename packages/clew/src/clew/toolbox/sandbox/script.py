"""How a module of clew that needs Python alone is started in a process of its own, fast."""

import sys
from pathlib import Path
from typing import Final

_START: Final = (
    "import sys,types\n"
    "path,module=sys.argv.pop(1),sys.argv.pop(1)\n"
    "name=''\n"
    "for part in module.split('.')[:-1]:\n"
    "    name=(name+'.'+part).strip('.')\n"
    "    made=types.ModuleType(name)\n"
    "    made.__path__=[path+'/'+name.replace('.','/')]\n"
    "    sys.modules[name]=made\n"
    "import importlib\n"
    "importlib.import_module(module).main()\n"
)
"""Packages are put in place without their `__init__`: what they import is not needed."""


def script(module: str) -> list[str]:
    """The command that runs `main()` of a module, which may import Python's own modules only.

    No setting of the environment or of the user reaches it (`python -I -S`).
    """
    folder = Path(__file__).parents[3]
    return [sys.executable, "-I", "-S", "-c", _START, str(folder), module]
