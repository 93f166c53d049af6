"""An answer on a terminal: Markdown as it is meant, where nothing of it is lost by that."""

import re
from collections import Counter
from io import StringIO
from typing import Final

from rich.console import Console
from rich.markdown import Markdown

from clew.cli.render import TextBlock
from clew.cli.screen import put

_MARKS: Final = re.compile(
    r"^ {0,3}(#{1,6} |[-*+] |\d+[.)] |`{3}|\||> )|\*\*\S|`[^`\n]+`|\]\(", re.MULTILINE
)
_FENCE: Final = re.compile(r"^(\s*`{3,}).*$", re.MULTILINE)
_WORD: Final = re.compile(r"\w+")
_WIDE: Final = 10_000


def put_answer(out: Console, label: str, text: str) -> None:
    """Write an answer: Markdown under its label, any other text beside it."""
    document = None
    if out.is_terminal and not out.is_dumb_terminal:
        document = markdown_of(text)
    if document is None:
        put(out, TextBlock(label, text, "bold"))
        return
    put(out, TextBlock(label, "", "bold"))
    out.print(document, soft_wrap=False)


def markdown_of(text: str) -> Markdown | None:
    """The text as a document; None where it is no Markdown, or a word of it would not be shown."""
    if _MARKS.search(text) is None:
        return None
    document = Markdown(text, hyperlinks=False)
    written = StringIO()
    Console(file=written, width=_WIDE, color_system=None, emoji=False).print(document)
    return document if _words(written.getvalue()) == _words(_FENCE.sub(r"\1", text)) else None


def _words(text: str) -> Counter[str]:
    return Counter(_WORD.findall(text))
