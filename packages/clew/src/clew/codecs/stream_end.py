"""When the stream of a reply is ended: not where what came may yet turn out to be thinking.

A chat template may have opened the thinking, and then nothing but its end, which can stand far
behind, says that a call was only thought of. Thinking begins with prose. So a reply that begins
with prose is read to its end, and any other for a while behind its call.
"""

from typing import Final

import msgspec

RUNS_ON: Final = 2_000
"""Characters that are read behind a call that no prose stands ahead of. Models that run on, or fill
up with blanks, would go on to their length limit."""


class StreamEnd(msgspec.Struct):
    """Whether the rest of a reply is unwanted. `prose` says that it begins with prose."""

    prose: bool = False
    ended: bool = False
    _behind: int = 0

    def invented(self) -> None:
        """A tail begins that the model invented: where stop sequences are known, none comes."""
        self.ended = self.ended or not self.prose

    def passed(self, size: int) -> None:
        """So many more characters came behind the call."""
        self._behind += size
        self.ended = self.ended or (not self.prose and self._behind > RUNS_ON)
