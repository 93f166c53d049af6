"""How a model judges the claims that the audit judges by rules: a point beside its curve.

python -m benchmarks.claim_judge MODEL --store judged.sqlite [--most 120] [--keep]

The judge is an agent without tools: it reads the passage and the claim, and says yes or no. Each
claim is a run of its own, so what was judged before is not asked again. With `--keep` the point is
drawn with the curve of `python -m benchmarks.public_claims --draw`.
"""

import argparse
import json
import random
import sys
from collections import Counter
from pathlib import Path
from typing import Any, Final

import anyio

from benchmarks.public import Row, missing, rows
from clew import Agent, Instructions, Limits, ModelSettings, SqliteStore, read, run
from clew.agent.read_result import result
from clew.core.stores import Store
from clew.core.values import encode
from clew.models.resolve import resolve

KEPT: Final = Path(__file__).parent / "claim-judge.json"
"""Where the point of the last judge is kept."""

PROMPT: Final = (
    "You are shown a passage and a claim. Say whether the passage bears out every part of the "
    "claim: its names, its numbers, what is done and by whom, and whether it is so or not so. "
    "Judge by the passage alone. Answer with one word: yes or no."
)


def judge(model: str) -> Agent:
    """The agent that says yes or no."""
    thinker = resolve(model, settings=ModelSettings(max_tokens=8, temperature=0))
    limits = Limits(steps=2, seconds=600.0)
    prompt = Instructions(PROMPT, constraints=(), verbatim=True, tell_left="never")
    return Agent(model=thinker, prompt=prompt, limits=limits)


async def judged(agent: Agent, row: Row, number: int, store: Store) -> str:
    """Its word for one claim, "" where it is neither yes nor no."""
    run_id, done = f"claim-{number}", {one.run_id for one in await store.runs()}
    if run_id in done:
        answer = result(agent, await read(run_id, store=store)).answer
    else:
        asked = encode({"passage": row["evidence"], "claim": row["claim"]}).decode()
        answer = (await run(agent, asked, store=store, run_id=run_id)).answer
    word = str(answer or "").strip().lower()[:3].strip(".,! \n")
    return word if word in {"yes", "no"} else ""


async def measured(model: str, limit: int, path: str) -> dict[str, Any]:
    """The point of a model on a random part of the unseen half, printed too."""
    unseen = list(enumerate(rows("claims", "unseen")))
    random.Random(0).shuffle(unseen)
    number, counts = Counter[bool](), Counter[tuple[bool, str]]()
    agent, store = judge(model), SqliteStore(path)
    try:
        for index, row in unseen[:limit]:
            supported = row["label"] == "supported"
            number[supported] += 1
            counts[supported, await judged(agent, row, index, store)] += 1
            print(f"\r{number.total()} of {min(limit, len(unseen))}", end="", file=sys.stderr)
    finally:
        await store.close()
    print(file=sys.stderr)
    shares: dict[str, Any] = {"model": model, "claims": number.total()}
    for supported, name in ((True, "objected"), (False, "caught")):
        no, of = counts[supported, "no"], number[supported]
        shares[name] = round(no / of, 3)
        print(f"{name}: {no} of {of} ({no / of:.3f}); neither yes nor no: {counts[supported, '']}")
    return shares


def main() -> int:
    options = argparse.ArgumentParser(prog="python -m benchmarks.claim_judge")
    options.add_argument("model", help="provider:model, as everywhere in clew")
    options.add_argument("--store", default="judged.sqlite", help="the file of its runs")
    options.add_argument(
        "--most", dest="limit", type=int, default=1_000, help="so many claims, at random"
    )
    options.add_argument("--keep", action="store_true", help=f"keep the point in {KEPT.name}")
    arguments = options.parse_args()
    if why := missing("claims"):
        print(why, file=sys.stderr)
        return 2
    result = anyio.run(measured, arguments.model, arguments.limit, arguments.store)
    if arguments.keep:
        KEPT.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
