"""What happens to the research script of each framework, run and killed.

It prints a table of what came of each situation.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from comparison.applications.model_server import CITIES, ModelServer
from comparison.applications.scripts import KILL, Script, last_line, played_by

QUESTION: Final = "Compare the capitals."
DEAR: Final = "I want to know more and more."


def five(script: Script, model: ModelServer) -> str:
    """Five look-ups in one reply, and the answer."""
    status, _, _ = script.run(QUESTION)
    return f"{script.at_once} at once, {len(model.asked)} requests; {status}"


def killed_looking_up(script: Script, model: ModelServer) -> str:
    """The process dies in one of the five, once the other four are done; it is started again."""
    (script.folder / KILL).write_text(CITIES[2])
    script.run(QUESTION)
    before = len(script.looked_up)
    status, _, _ = script.run(QUESTION)
    more = len(script.looked_up) - before
    return f"{more} again, {len(model.asked)} requests; {status}"


def killed_writing(script: Script, model: ModelServer) -> str:
    """The process dies while the model writes the answer; it is started again."""
    _die(script, model, QUESTION)
    before = len(script.looked_up), len(model.asked)
    status, _, _ = script.run(QUESTION)
    more = len(script.looked_up) - before[0], len(model.asked) - before[1]
    return f"{more[0]} again, {more[1]} more requests; {status}"


def again(script: Script, model: ModelServer) -> str:
    """It is started again once it is done."""
    script.run(QUESTION)
    before = len(script.looked_up), len(model.asked)
    status, _, _ = script.run(QUESTION)
    more = len(script.looked_up) - before[0], len(model.asked) - before[1]
    return f"{more[0]} again, {more[1]} more requests; {status}"


def twice(script: Script, model: ModelServer) -> str:
    """It is started twice at once."""
    both = [script.start(QUESTION) for _ in range(2)]
    ended = [_status(last_line(process)) for process in both]
    looked = len(script.looked_up)
    return f"{looked} look-ups, {len(model.asked)} requests; {', '.join(ended)}"


def invented_source(script: Script, model: ModelServer) -> str:
    """The answer cites a city that nobody looked up."""
    return _sent_back(script, f"{QUESTION} Invent a source.")


def invented_figure(script: Script, model: ModelServer) -> str:
    """The answer has a figure that is not in the passage that it cites."""
    return _sent_back(script, f"{QUESTION} Invent a figure.")


def dear(script: Script, model: ModelServer) -> str:
    """The model never has enough, and a cent is allowed."""
    status, _, cost = script.run(DEAR)
    return f"{len(model.asked)} requests, ${cost:.3f}; {status}"


def dear_and_killed(script: Script, model: ModelServer) -> str:
    """The same, killed while the model thinks after the first look-up, and started again."""
    _die(script, model, DEAR)
    before = len(model.asked)
    status, _, cost = script.run(DEAR)
    return f"{before} requests, then {len(model.asked) - before}, ${cost:.3f} told; {status}"


SITUATIONS: Final[Mapping[str, Callable[[Script, ModelServer], str]]] = {
    "five look-ups in one reply": five,
    "killed in one of them, started again": killed_looking_up,
    "killed while the model writes the answer, started again": killed_writing,
    "started again when it is done": again,
    "started twice at once": twice,
    "the answer cites what nobody looked up": invented_source,
    "a figure that is not in the cited passage": invented_figure,
    "1 cent allowed, no end": dear,
    "the same, killed and started again": dear_and_killed,
}


def _die(script: Script, model: ModelServer, question: str) -> None:
    """Start it, and kill it while the model has results and says nothing."""
    model.holds = question
    process = script.start(question)
    model.wait()
    process.kill()
    process.communicate()
    model.holds = ""


def _sent_back(script: Script, question: str) -> str:
    status, answer, _ = script.run(question)
    wrong = "Atlantis" in answer or "5.0" in answer
    return f"{'told as it is' if wrong else 'sent back, then right'}; {status}"


def _status(line: Any) -> str:
    return "failed" if line is None else str(line[0])


def played(python: Path, name: str) -> list[str]:
    """What came of each situation, each in a folder of its own."""
    return played_by(python, f"research_{name}", SITUATIONS.values())


if __name__ == "__main__":
    from comparison.applications.others import print_table

    print_table(SITUATIONS, played)
