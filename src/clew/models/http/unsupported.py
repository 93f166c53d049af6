"""What requests go out without, since a server refused it."""

import logging
from dataclasses import dataclass, field
from typing import Final
from weakref import WeakKeyDictionary

from clew.core.interfaces import Part, Prompt

LOG: Final = logging.getLogger("clew.models")


@dataclass
class LeftOut:
    """What a model's requests leave out: all of them, or those of one conversation.

    What is about things that were `said` (`Api.said`) tells nothing of other conversations. One is
    known by the first part of its head, which is the same object in all prompts of a run.
    """

    name: str
    said: frozenset[str]
    everywhere: frozenset[str] = frozenset()
    _here: WeakKeyDictionary[Part, frozenset[str]] = field(
        default_factory=WeakKeyDictionary[Part, frozenset[str]]
    )

    def of(self, prompt: Prompt) -> frozenset[str]:
        """What the next request with this prompt leaves out."""
        here = self._here.get(prompt.head[0], frozenset()) if prompt.head else frozenset[str]()
        return self.everywhere | here

    def add(self, prompt: Prompt, what: str) -> None:
        """Leave this out too, from now on."""
        if what in self.said and prompt.head:
            head = prompt.head[0]
            self._here[head] = self._here.get(head, frozenset()) | {what}
            where = "in this run"
        else:
            self.everywhere |= {what}
            where = "from now on"
        LOG.warning("%s refused %s: that is left out %s", self.name, what, where)
