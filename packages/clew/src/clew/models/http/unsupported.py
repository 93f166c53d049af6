"""What requests go out without, or repaired, since a server refused them as they were."""

import logging
from dataclasses import dataclass, field
from typing import Final
from weakref import WeakKeyDictionary

from clew.core.contents import Adapted
from clew.core.prompts import Part, Prompt
from clew.models.history import WORDS

LOG: Final = logging.getLogger("clew.models")


@dataclass
class LeftOut:
    """What a model's requests leave out or repair: all of them, or those of one conversation.

    What is about things that were `understood` (`Api.said`, and every repair) tells nothing of
    other conversations. One is known by the first part of its head, which is the same object in all
    prompts of a run, and in another process by its record (`Prompt.adapted`). `known` is what the
    provider is known to need.
    """

    name: str
    understood: frozenset[str]
    known: frozenset[str] = frozenset()
    everywhere: frozenset[str] = frozenset()
    _here: WeakKeyDictionary[Part, frozenset[str]] = field(
        default_factory=WeakKeyDictionary[Part, frozenset[str]]
    )

    def __post_init__(self) -> None:
        self.understood |= WORDS.keys()

    def of(self, prompt: Prompt) -> frozenset[str]:
        """What the next request with this prompt leaves out or repairs."""
        here = self._here.get(prompt.head[0], frozenset()) if prompt.head else frozenset[str]()
        told = prompt.adapted
        recorded = frozenset(told.what) if told and told.model == self.name else frozenset[str]()
        return self.known | self.everywhere | here | recorded

    def add(self, prompt: Prompt, what: str) -> None:
        """Leave this out, or repair it, from now on."""
        if what in self.understood and prompt.head:
            head = prompt.head[0]
            self._here[head] = self._here.get(head, frozenset()) | {what}
            where = "in this run"
        else:
            self.everywhere |= {what}
            where = "from now on"
        if what in WORDS:
            LOG.warning("%s refused the conversation: %s %s", self.name, WORDS[what], where)
        else:
            LOG.warning("%s refused %s: that is left out %s", self.name, what, where)

    def withdraw(self, prompt: Prompt, what: frozenset[str]) -> None:
        """Forget repairs of this conversation that did not help."""
        if prompt.head and (here := self._here.get(prompt.head[0])) is not None:
            self._here[prompt.head[0]] = here - what

    def adapted(self, without: frozenset[str]) -> Adapted | None:
        """What a record keeps of it: what later requests of the run have to know."""
        what = without & self.understood - self.known
        return Adapted(self.name, tuple(sorted(what))) if what else None
