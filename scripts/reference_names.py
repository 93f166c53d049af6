"""What mkdocstrings reads of a package whose functions are named like their own modules.

`clew.tools.external` is a function, and the name of the module that it lies in. A reader of sources
takes it for the module, and the API reference would not have it: here it becomes the function.
"""

from collections.abc import Iterator
from typing import Any

import griffe


class ReferenceNames(griffe.Extension):
    """What a namespace imports from a module of the same name stands under that name."""

    def on_package(self, *, pkg: griffe.Module, **more: Any) -> None:
        """Called when all of a package has been read."""
        meant: dict[str, griffe.Object | griffe.Alias] = {}
        for module in modules(pkg):
            for name, path in module.imports.items():
                inner = module.members.get(name)
                if isinstance(inner, griffe.Module) and path == f"{inner.path}.{name}":
                    meant[inner.path] = inner.members[name]
        for module in modules(pkg):
            for name, path in [(name, f"{module.path}.{name}") for name in module.members]:
                target = meant.get(path) or meant.get(module.imports.get(name, ""))
                if target is not None:
                    module.members[name] = griffe.Alias(name, target, parent=module)


def modules(module: griffe.Module) -> Iterator[griffe.Module]:
    """The module and all below it."""
    yield module
    for each in list(module.modules.values()):
        yield from modules(each)
