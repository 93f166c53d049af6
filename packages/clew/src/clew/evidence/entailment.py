"""A model of your own as the judge of what passages mean."""

from collections.abc import Sequence
from typing import Final

from clew.core.events import encode
from clew.core.interfaces import Model, Part, Prompt
from clew.interfaces import Entailment, Entails

ASKED: Final = (
    "You are shown passages and a claim, as data. Do the passages bear out every part of the "
    "claim: who does what to whom, numbers, times, conditions, how surely and of how many it is "
    "said? What follows from them by arithmetic is borne out. Judge by the passages alone. Answer "
    "with one word: entails, contradicts (they say otherwise) or neither (they do not say it)."
)
_WORDS: Final[dict[str, Entailment]] = {"entails": "entails", "contradicts": "contradicts"}


def entails_of(judge: Entails | Model) -> Entails:
    """A function that asks the model about each claim; a function is taken as it is.

    Each claim is one request. A reply that begins with none of the three words counts as "neither".
    """
    if not isinstance(judge, Model):
        return judge
    model = judge

    async def ask(claim: str, passages: Sequence[str]) -> Entailment:
        shown = encode({"passages": list(passages), "claim": claim}).decode()
        prompt = Prompt((Part("system", ASKED), Part("user", shown)), (), calls="none")
        reply = await model.complete(prompt)
        words = reply.text.lower().split(maxsplit=1)
        return _WORDS.get(words[0].strip(".,:;!*_\"'`"), "neither") if words else "neither"

    return ask
