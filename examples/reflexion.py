"""A strategy: try, be judged, reflect on what went wrong, try again.

A scripted demonstration: scripts play the models, and the runs are real ones on record. Needs `make
install WITH=strategies`. Prints:

    (scripts play the models)
    solve: Basel.
    evaluate: {"passed":false,"why":"the question is about the capital"}
    reflect: I took the wrong city. Next time: the capital.
    solve: Bern.
    evaluate: {"passed":true,"why":""}
    answered: Bern.
"""

from clew import Agent, MemoryStore, run_sync, sync
from clew.interfaces import Prompt
from clew.testing import Move, ScriptedModel, finish, say

try:
    from clew_strategies import AnswerVerdict, Reflexion, strategy_agent
except ModuleNotFoundError as missing:
    raise SystemExit(f"{missing}: run make install WITH=strategies") from missing


def solve(prompt: Prompt) -> Move:
    """Answer as a model would that learns from a reflection in its task."""
    return say("Bern." if "the capital" in prompt.head[-1].text else "Basel.")


def judge(prompt: Prompt) -> Move:
    """Pass the capital only."""
    passed = "Bern" in prompt.head[-1].text
    return finish({"passed": passed, "why": "" if passed else "the question is about the capital"})


def main() -> None:
    print("(scripts play the models)")
    solver = Agent(ScriptedModel([solve]))
    evaluator = Agent(ScriptedModel([judge]), answer=AnswerVerdict)
    reflector = Agent(ScriptedModel([say("I took the wrong city. Next time: the capital.")]))
    learning = Reflexion(solver, evaluator=evaluator, reflector=reflector)
    store = MemoryStore()
    result = run_sync(strategy_agent(learning, solver), "Which city governs?", store=store)
    for call in sync.read(result.run_id, store=store).calls[:5]:
        print(f"{call.action.name}: {call.observation.text if call.observation else ''}")
    print(f"{result.status}: {result.answer}")


if __name__ == "__main__":
    main()
