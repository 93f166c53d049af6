"""How a module of clew that needs Python alone is started in a process of its own, fast."""

import sys
from pathlib import Path
from typing import Final

import clew

_START: Final = (
    "import sys,types\n"
    "paths,module=sys.argv.pop(1).split(':'),sys.argv.pop(1)\n"
    "parts=module.split('.')\n"
    "for name in ['clew',*('.'.join(parts[:n]) for n in range(1,len(parts)))]:\n"
    "    made=types.ModuleType(name)\n"
    "    made.__path__=[path+'/'+name.replace('.','/') for path in paths]\n"
    "    sys.modules[name]=made\n"
    "import importlib\n"
    "importlib.import_module(module).main()\n"
)
"""Packages are put in place without their `__init__`: what they import is not needed."""


def script(module: str) -> list[str]:
    """The command that runs `main()` of a module, which may import Python's own modules, and
    such modules of clew and of this package.

    No setting of the environment or of the user reaches it (`python -I -S`).
    """
    folders = dict.fromkeys((Path(__file__).parents[2], Path(clew.__file__).parents[1]))
    return [sys.executable, "-I", "-S", "-c", _START, ":".join(map(str, folders)), module]
