"""stdout and stderr of the command line, whoever writes: a warning, a log, a tool that prints.

Commands write by `say` or a console. What goes past these, in this process, comes here.
"""

from collections.abc import Iterable
from typing import Any, TextIO, cast

from clew.support.printable import printable


class SafeStream:
    """A stream in front of another: nothing that is written to it acts on a terminal.

    `rich_proxied_file` is the other, under the name by which consoles of rich find it: they write
    their own colours there, and our console has made the text between them harmless.
    """

    def __init__(self, stream: TextIO) -> None:
        self.rich_proxied_file = stream

    @classmethod
    def over(cls, stream: TextIO) -> TextIO:
        """The stream behind one of these, unless it is one."""
        return stream if isinstance(stream, cls) else cast("TextIO", cls(stream))

    def write(self, text: str) -> int:
        """Write the text; what would write over a line begins another one."""
        self.rich_proxied_file.write(printable(text.replace("\r\n", "\n").replace("\r", "\n")))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        """Write each of the texts."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        """All else is the other stream's."""
        return getattr(self.rich_proxied_file, name)
