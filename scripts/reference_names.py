"""What mkdocstrings reads of a package whose functions are named like their own modules.

`clew.tools.external` is a function, and the name of the module that it lies in. A reader of sources
takes it for the module, and the API reference would not have it: here it becomes the function.
"""

from typing import Any

import griffe


class ReferenceNames(griffe.Extension):
    """What a namespace imports from a module of the same name stands under that name."""

    def on_package(self, *, pkg: griffe.Module, **more: Any) -> None:
        """Called when all of a package has been read."""
        for module in [*modules(pkg)]:
            for name, path in module.imports.items():
                inner = module.members.get(name)
                if inner is None or not inner.is_module or path != f"{inner.path}.{name}":
                    continue
                module.members[name] = griffe.Alias(name, inner.members[name], parent=module)


def modules(module: griffe.Module) -> list[griffe.Module]:
    """The module and all below it."""
    below = [modules(each) for each in module.modules.values()]
    return [module, *(each for inner in below for each in inner)]
