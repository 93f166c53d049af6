"""How often the offline rules are wrong, right or at a loss over notes they were not written for.

python -m benchmarks.offline                       the half that nobody looked at, counts only
python -m benchmarks.offline --half seen --texts   the half they were mended with
python -m benchmarks.offline --reasoning           the same of questions that need several sentences
python -m benchmarks.offline --squad xquad.de.json the same half of a file in SQuAD's form
"""

import argparse
from collections import Counter
from pathlib import Path

import anyio

from benchmarks.offline.cases import Case, Notes, halves, reasoning, squad
from benchmarks.offline.judge import JUDGED, Judged, judge
from clew import Agent, MemoryStore, resume, run
from clew.agent.result import Result
from clew.toolbox.calc import calc
from clew.toolbox.docs import docs_tools
from clew.toolbox.planner import planner


async def asked(agent: Agent, case: Case) -> Result:
    """What the agent says to the last of the case's questions, the others asked before it."""
    store = MemoryStore()
    first, *more = [*case.before, case.question]
    result = await run(agent, first, store=store)
    for question in more:
        result = await resume(agent, result.run_id, say=question, store=store)
    return result


async def outcomes(notes: Notes) -> list[tuple[Case, Result, Judged]]:
    """Every case with what came of it, all notes of the half being in one folder."""
    with notes.folder() as folder:
        agent = Agent(model="offline", tools=[*docs_tools(folder), calc(), planner()])
        answers = [(case, await asked(agent, case)) for case in notes.cases]
    return [(case, result, judge(case, result)) for case, result in answers]


def told(pairs: list[tuple[Case, Result, Judged]]) -> str:
    """The counts as lines: all questions, and by kind."""
    lines = list[str]()
    there = [(case, verdict) for case, _, verdict in pairs if case.there]
    count = Counter(verdict for _, _, verdict in pairs)
    lines.append(f"{len(pairs)} questions, {len(there)} of them with an answer in the notes")
    lines += [f"{count[name]:5}  {name}: {meaning}" for name, meaning in JUDGED.items()]
    served = sum(verdict in ("right", "shown") for _, verdict in there)
    share = f"{served / len(there):.1%}" if there else "–"
    lines.append(f"answered, or declined with the right passage shown: {served} = {share}")
    kinds = dict.fromkeys(case.kind for case, _, _ in pairs)
    for kind in kinds:
        counts = Counter(verdict for case, _, verdict in pairs if case.kind == kind)
        lines.append(f"  {kind:11} " + ", ".join(f"{n} {name}" for name, n in counts.items()))
    return "\n".join(lines)


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.offline", description=__doc__)
    parser.add_argument("--half", choices=["unseen", "seen"], default="unseen")
    parser.add_argument("--squad", type=Path, help="a file in the form of SQuAD instead")
    parser.add_argument(
        "--reasoning", action="store_true", help="hops, sums, negation, typing errors"
    )
    parser.add_argument("--texts", action="store_true", help="show questions and answers too")
    parser.add_argument("--only", default="", help="show those that were judged so")
    options = parser.parse_args()
    ours = reasoning() if options.reasoning else halves()
    notes = squad(options.squad, options.half) if options.squad else ours[options.half]
    fields = anyio.run(outcomes, notes)
    for case, result, verdict in fields if options.texts else ():
        if options.only in ("", verdict):
            asked_before = "".join(f"({one}) " for one in case.before)
            print(f"== {verdict} {case.id}: {asked_before}{case.question}")
            print(f"   wanted {' or '.join(case.answer) or 'no answer'}\n   {result.answer}")
    print(told(fields))


if __name__ == "__main__":
    main()
