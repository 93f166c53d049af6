"""A worker in a process of its own, for tests that freeze, kill and race it.

    worker.py PLACE RUN_ID stepwise|free [barrier]

It opens the store, says `opened EPOCH`, and appends one to three lines at a time, saying after each
the number of the last line that was acknowledged: one append for every line on its standard input,
or (free) without end. A refusal ends it: it says the exception's name.
"""

import sys
from itertools import count

import anyio

from clew.stores import open_store
from clew.support.errors import StoreError
from clew_testing.store_contract import append


def say(*words: object) -> None:
    sys.stdout.write(" ".join(map(str, words)) + "\n")
    sys.stdout.flush()


async def work(place: str, run_id: str, pace: str, *, barrier: bool) -> None:
    store = open_store(place)
    if run_id not in {run.run_id for run in await store.runs()}:
        await store.create(run_id)
    epoch = await store.open(run_id)
    head = len(await store.read(run_id))
    say("opened", epoch)
    for turn in count():
        if pace == "stepwise" and not sys.stdin.readline():
            break
        seqs = range(head + 1, head + 2 + turn % 3)
        await store.append(append(run_id, epoch, *seqs, barrier=barrier))
        head = seqs[-1]
        say(head)
    await store.close()


if __name__ == "__main__":
    if sys.stdin.readline():  # the tests let several go at once
        try:
            anyio.run(lambda: work(*sys.argv[1:4], barrier="barrier" in sys.argv))
        except StoreError as error:
            say(type(error).__name__)
