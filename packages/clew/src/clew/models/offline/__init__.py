"""The model `offline`: fixed rules for English questions, which see nothing but the prompt."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest
from typing import Any, Final, NamedTuple, TypeAlias

import anyio.lowlevel
import msgspec

from clew.core.codes import FINISH, Finish
from clew.core.contents import RawCall, Reply, Usage
from clew.core.models import ModelInfo, OnText
from clew.core.prompts import Part, Prompt
from clew.core.trajectory import WITHHELD
from clew.core.values import Json, encode
from clew.models.offline import english
from clew.support.errors import ConfigError
from clew.support.model_settings import ModelSettings, refuse_settings

MAX_CHARACTERS: Final = 1_000
ANOTHER: Final = (
    "Name a language model for that (`clew doctor models local`: one for this machine)."
)
NO_OBJECT: Final = (
    "I am a set of rules, and answer in a sentence or a number: I give no plan, no verdict and no "
    f"object. {ANOTHER}"
)
NO_ATTACHMENT: Final = (
    f"I am a set of rules, and read nothing that is attached. {ANOTHER} Or have a folder searched "
    "(--docs)."
)
NEEDS: Final = (
    "I am a set of rules: with the native codec I search documents (--docs FOLDER) and calculate, "
    f"and use no other tools. {ANOTHER}"
)
GREETING: Final = (
    "I am a set of rules, not a language model. I answer short English questions about your"
    " documents (`--docs FOLDER` names them), with the sentences found, and do arithmetic. Ask me a"
    " question such as “When was Mary Shelley born?” or “What is 12 % of 80?”."
)
LOOKED: Final = "These passages look relevant, but my rules cannot work an answer out of them:"
READS: Final = (
    "A language model can read them: name one (`clew doctor models local`: for this machine)."
)
EMPTY: Final = (
    "My search brought no passage for this, which does not mean that nothing is there: it knows"
    " words, not meanings. Try the words that the documents use."
)
NO_WORDS: Final = "There is no word in this that I could search for: ask in whole words."
REFUSED: Final = "My answer was not accepted, and I have no other"
MAX_DOCUMENTS: Final = 3
"""So many passages are shown where the rules give no answer."""
SIGNED: Final = "answered by clew's offline rules, not by a language model"
_LOOP: Final = ("ERROR: ", "NOTE: ", "The limit on ")
"""How the codec `native` begins what the loop says as a user (`_aside` in codecs/native.py)."""


_Do: TypeAlias = tuple[str, dict[str, Json]]
"""A tool to call, and its arguments."""


class _Wanted(Exception):  # noqa: N818 – no error: the rules begin again when the calls were made
    """Calls that must be made first, and why. Without any: why not."""

    def __init__(self, why: str, *calls: _Do) -> None:
        super().__init__(why)
        self.why, self.calls = why, calls


class _Answer(NamedTuple):
    """What came of a question: its value (None: no answer), and what to say, with citations."""

    value: str | None
    claims: tuple[str, ...]


@dataclass(frozen=True)
class OfflineModel:
    """Looks things up and calculates by fixed rules; replies cost nothing."""

    info = ModelInfo("offline", priced=True, unmetered=True, takes=frozenset())

    def with_settings(self, settings: ModelSettings) -> "OfflineModel":
        """Itself with a seed, which changes nothing. Raises `ConfigError` for any other setting."""
        refuse_settings(OfflineModel.info.name, settings, ("seed",))
        return self

    async def complete(self, prompt: Prompt, on_text: OnText | None = None) -> Reply:
        """The next move; with `on_text`, its text in one piece.

        As with any model, other tasks have their turn meanwhile.
        """
        await anyio.lowlevel.checkpoint()
        try:
            answer = _find_answer(prompt)
        except _Wanted as first:
            text, wanted, answer = first.why, first.calls, _Answer("" if first.calls else None, ())
        else:
            text, wanted = (_declined if answer.value is None else _answer)(prompt, answer)
        if wanted and not any(part.role == "assistant" for part in prompt.parts):
            text = f"These are clew's offline rules, not a language model. {text}"
        if on_text is not None:
            on_text(text)
        calls = tuple(
            RawCall(name=tool, arguments=encode(args).decode(), id=f"offline_{number}")
            for number, (tool, args) in enumerate(wanted, start=len(prompt.parts) + 1)
        )
        ended: Finish = "calls" if calls else "declined" if answer.value is None else "stop"
        answers = ended != "calls" or any(tool == FINISH for tool, _ in wanted)
        return Reply(
            text, calls, ended, Usage(cost=0.0), self.info.name, note=SIGNED if answers else ""
        )


def offline_model(model: str = "", **options: Any) -> OfflineModel:
    """The offline rules, as their entry point makes them."""
    if model:
        raise ConfigError(f"there is no model offline:{model}: write offline")
    settings = options.pop("settings", None)
    if options:
        word = next(iter(options))
        raise ConfigError(f"the offline rules have no {word}: leave it out")
    if settings is not None:
        refuse_settings(OfflineModel.info.name, ModelSettings.of(settings))
    return OfflineModel()


def _asks(part: Part) -> bool:
    return part.role == "user" and not part.text.startswith(_LOOP)


def _find_answer(prompt: Prompt) -> _Answer:
    """What the rules find for the last question a person asked."""
    schema = _answer_schema(prompt)
    if "$ref" in schema or schema.get("type") in ("object", "array"):
        return _Answer(None, (NO_OBJECT,))
    asked = [part for part in prompt.head if part.role == "user"][-1:]
    asked += filter(_asks, prompt.parts)
    asked = [part for part in asked if part.text != WITHHELD]
    if any(part.attachments for part in asked):
        return _Answer(None, (NO_ATTACHMENT,))
    spoken, question, answer = english.Spoken(), "", _Answer(None, ())
    for part in asked:
        before, question = question, english.cleaned(part.text)
        question = spoken.resolve_pronouns(english.continued(question, before))
        answer = _solve(
            question, prompt if part is asked[-1] else msgspec.structs.replace(prompt, calls="none")
        )
        spoken = spoken.after(question, answer.value or "")
    texts = [part.text for part in _since(prompt) if part.name in ("", FINISH)]
    refused = next((text for text in texts if text.startswith("ERROR: ")), "")
    return _Answer(None, (f"{REFUSED} ({refused})", *answer.claims)) if refused else answer


def _since(prompt: Prompt) -> Sequence[Part]:
    """What came of the last question so far."""
    begin = max((n for n, part in enumerate(prompt.parts, start=1) if _asks(part)), default=0)
    return prompt.parts[begin:]


def _declined(prompt: Prompt, answer: _Answer) -> tuple[str, tuple[_Do, ...]]:
    """That there is no answer, with what was found on the way and the passages nearest to it."""
    asked = " ".join(part.text for part in (*prompt.head[-1:], *filter(_asks, prompt.parts)))
    searches = [_read(part).results for part in _since(prompt) if part.name == "docs"]
    ranked = filter(None, chain.from_iterable(zip_longest(*searches)))
    passages = {str(one.get("doc_id")): one for one in ranked}
    lines = [
        f"[{doc_id}] {one.get('title')}: {english.gist(str(one.get('snippet')), asked)}"
        for doc_id, one in list(passages.items())[:MAX_DOCUMENTS]
    ]
    looked = ([LOOKED, *lines, READS] if lines else [EMPTY]) if searches else []
    return "\n".join([*answer.claims, *looked]) or NO_WORDS, ()


def _answer_schema(prompt: Prompt) -> Mapping[str, Any]:
    """What an answer is to be, where it is given by a call."""
    finish = next((tool for tool in prompt.tools if tool.name == FINISH), None)
    return finish.parameters.get("properties", {}).get("answer", {}) if finish else {}


def _answer(prompt: Prompt, looked_up: _Answer) -> tuple[str, tuple[_Do, ...]]:
    """An answer as text, or as thought and call of finish, of the type that finish wants."""
    lead = f"{looked_up.value} – " if looked_up.value and len(looked_up.claims) > 1 else ""
    answer: Json = lead + " ".join(looked_up.claims)
    wanted = _answer_schema(prompt).get("type")
    digits = re.fullmatch(r"-?\d+(\.\d+)?", (looked_up.value or "").replace(",", ""))
    if wanted in ("integer", "number") and digits:
        answer = float(digits[0]) if digits[1] else int(digits[0])
    if prompt.calls == "none" or (wanted != "string" and isinstance(answer, str)):
        return str(answer), ()
    return "I have what can be found.", ((FINISH, {"answer": answer}),)


def _solve(question: str, prompt: Prompt) -> _Answer:
    """Work a cleaned question out, follow the planner's steps, or look it up as it is."""
    if len(question) > MAX_CHARACTERS:
        return _Answer(None, (f"I read up to {MAX_CHARACTERS} characters: ask in less.",))
    if english.FORMS["greeting"].fullmatch(question):
        return _Answer("", (GREETING,))
    if english.arithmetic(question):
        return _worked_out(question, prompt)
    if english.FORMS["parts"].search(question):
        why = "The question has parts, so I ask for a plan."
        steps = _call(prompt, why, "planner", {"question": question}).steps
        tools = {step.get("tool") for step in steps}
        if len(steps) > 1 and tools <= {"docs", "calc"}:
            apart = _apart(step.get("do", "") for step in steps if step["tool"] == "docs")
            _searched_at_once(apart, prompt)
            return _each(apart, prompt) if len(apart) == len(steps) else _followed(steps, prompt)
    return _looked_up(question, prompt)


def _apart(steps: Iterable[str]) -> list[str]:
    """Of what is to be looked up, that which waits for nothing, as questions of their own."""
    questions, spoken = list[str](), english.Spoken()
    for step in steps:
        if not re.search(r"#\d", step):
            questions.append(spoken.resolve_pronouns(english.cleaned(step)))
            spoken = spoken.after(questions[-1], "")
    return questions


def _searched_at_once(questions: list[str], prompt: Prompt) -> None:
    """Ask for all searches that are still to be made in one step."""
    queries = dict.fromkeys(_query(question) for question in questions)
    calls = [("docs", _search(query)) for query in queries if query]
    missing = [call for call in calls if _recorded_result(prompt, *call) is None]
    if len(missing) > 1 and _callable(prompt, "docs"):
        raise _Wanted(f"I search the documents to find out: {'; '.join(questions)}.", *missing)


def _each(questions: list[str], prompt: Prompt) -> _Answer:
    """Look up several things that have nothing to do with each other."""
    answers = [_looked_up(question, prompt) for question in questions]
    claims = dict.fromkeys(claim for one in answers for claim in one.claims)
    return _Answer(None if any(one.value is None for one in answers) else "", tuple(claims))


def _followed(steps: list[dict[str, str]], prompt: Prompt) -> _Answer:
    """Do the steps of a plan in turn, each with the values of those before it."""
    values, claims = list[str](), list[str]()
    for step in steps:
        text, sums = english.cleaned(step.get("do", "")), step["tool"] == "calc"
        for number, value in reversed(list(enumerate(values, start=1))):
            text = text.replace(f"#{number}", value.replace(",", "") if sums else value)
        if steps[-1]["tool"] == "calc" and not sums and english.QuestionFocus(text).kind == "what":
            text = f"how much is {text}"
        days = english.full_years(text, claims) if sums and _asks_age(steps) else None
        answer = (
            _worked_out(days[0] if days else text, prompt) if sums else _looked_up(text, prompt)
        )
        if answer.value is None:
            return _Answer(None, (*answer.claims, *claims))
        values.append(answer.value)
        years = " (by calendar years)" if sums and "the year" in str(steps) else ""
        years = f" ({days[1]})" if days else years
        claims += (f"{claim}{years}" for claim in answer.claims)
    if choice := dict(english.FORMS["choice"].findall(steps[-1].get("hint", ""))):
        sign = "" if values[-1] == "0" else "below" if values[-1].startswith("-") else "above"
        values.append(choice.get(sign, "neither"))
    return _Answer(values[-1], tuple(dict.fromkeys(claims)))


def _asks_age(steps: list[dict[str, str]]) -> bool:
    """Whether a plan wants the years of one life, and not who comes first."""
    births = [one for one in steps if "born" in one.get("do", "")]
    return len(births) == 1 and not english.FORMS["choice"].search(steps[-1].get("hint", ""))


def _worked_out(question: str, prompt: Prompt) -> _Answer:
    expression = english.arithmetic(question)
    asked = (f"I work out {expression}.", "calc", {"expression": expression})
    result = _call(prompt, *asked).result if expression else None
    if result is None:
        return _Answer(None, (f"I cannot work out “{question}”.",))
    return _Answer(str(result), (f"{expression} = {result}",))


def _looked_up(question: str, prompt: Prompt) -> _Answer:
    """The sentence that answers; if none does, for the question with its typing errors mended."""
    words = _query(question)
    why = f"I search the documents to find out: {question}."
    passages = _call(prompt, why, "docs", _search(words)).results if words else []
    answer = _matched(question, passages)
    if answer.value is not None:
        return answer
    texts = " ".join(f"{one.get('title')} {one.get('snippet')}" for one in passages)
    meant = english.respelled(question, texts)
    for word, put in meant.items():
        question = re.sub(rf"\b{re.escape(word)}\b", put, question)
    mended = _matched(question, passages) if meant else answer
    read = ", ".join(f"“{word}” as “{put}”" for word, put in meant.items())
    claims = (*mended.claims, f"(I read {read}.)")
    return answer if mended.value is None else mended._replace(claims=claims)


def _matched(question: str, passages: list[dict[str, Json]]) -> _Answer:
    """What the sentences of the passages say to a question, if they say one thing."""
    asked = english.QuestionFocus(question)
    matches = (asked.match(one) for passage in passages for one in english.sentences(passage))
    scored = sorted(filter(None, matches), key=lambda one: -one[0])
    best = [one for one in scored if one[0] == scored[0][0]]
    if len({value or claim for _, value, claim in best}) != 1:  # none, or they differ
        return _Answer(None, ())
    return _Answer(best[0][1] or best[0][2], (best[0][2],))


def _query(question: str) -> str:
    return " ".join(dict.fromkeys(english.content(question)))


def _search(words: str) -> dict[str, Json]:
    return {"query": words, "limit": 10}


class _Gave(msgspec.Struct):
    """What calc, the planner or a search gave; empty where it failed or cannot be called."""

    result: Json = None
    steps: list[dict[str, str]] = []
    results: list[dict[str, Json]] = []


def _call(prompt: Prompt, why: str, tool: str, args: dict[str, Json]) -> _Gave:
    recorded = _recorded_result(prompt, tool, args)
    if recorded is None and _callable(prompt, tool):
        raise _Wanted(why, (tool, args))
    if recorded is None and tool != "planner" and all(one.name != tool for one in prompt.tools):
        raise _Wanted(NEEDS)
    return recorded or _Gave()


def _recorded_result(prompt: Prompt, tool: str, args: dict[str, Json]) -> _Gave | None:
    """What that call gave; None where it has not been made."""
    wanted = (tool, encode(args).decode())
    calls = [call for part in prompt.parts for call in part.calls]
    ids = {call.id for call in calls if (call.name, call.arguments) == wanted}
    results = (part for part in prompt.parts if part.role == "tool" and part.call_id in ids)
    return next(map(_read, results), None)


def _read(part: Part) -> _Gave:
    """What a tool gave; empty where it cannot be read. Hints stand on lines of their own below."""
    try:
        return msgspec.json.decode(part.text.partition("\n")[0], type=_Gave)
    except (msgspec.DecodeError, RecursionError):
        return _Gave()


def _callable(prompt: Prompt, tool: str) -> bool:
    return prompt.calls != "none" and any(one.name == tool for one in prompt.tools)
