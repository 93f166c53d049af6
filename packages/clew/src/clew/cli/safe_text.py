"""The one exit for text to a terminal, which shows what cannot be seen in it as codes."""

import re
import sys
from typing import Any, Final

import click

from clew.interfaces import encode
from clew.support.printable import SHAPELESS, printable

_IN_JSON: Final = re.compile(f"[\x7f-\x9f\u200c\u200d\ufe00-\ufe0f{SHAPELESS}]")


def say(text: str = "", *, err: bool = False, nl: bool = True) -> None:
    """Write to stdout or stderr: the one exit for text, which nothing in it can take for orders."""
    click.echo(printable(text), err=err, nl=nl)


def say_over(text: str = "") -> None:
    """Write over the last line of stderr, which is a terminal."""
    stream = getattr(sys.stderr, "rich_proxied_file", sys.stderr)
    stream.write(f"\r\x1b[K{printable(' '.join(text.split()))}")
    stream.flush()


def json_text(value: Any) -> str:
    """A value as JSON in which nothing acts on a terminal or hides there."""
    return _IN_JSON.sub(_escaped, encode(value).decode())


def _escaped(match: re.Match[str]) -> str:
    pairs = match[0].encode("utf-16-be").hex()
    return "".join(f"\\u{pairs[at : at + 4]}" for at in range(0, len(pairs), 4))
