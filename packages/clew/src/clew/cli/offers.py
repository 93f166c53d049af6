"""What an option offers when Tab is pressed: what that needs is imported only then."""

from collections.abc import Callable
from importlib import import_module
from typing import Literal, TypeAlias

import click
from click.shell_completion import CompletionItem

Completer: TypeAlias = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]


def offers(kind: Literal["runs", "models", "providers", "tools", "formats"]) -> Completer:
    """The completer of that name in `clew.cli.completers`."""

    def complete(
        context: click.Context, parameter: click.Parameter, begun: str
    ) -> list[CompletionItem]:
        completer: Completer = getattr(import_module("clew.cli.completers"), kind)
        return completer(context, parameter, begun)

    return complete
