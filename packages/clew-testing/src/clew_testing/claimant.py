"""A process that claims names in a store and keeps them until it is ended: for the contract.

    python -m clew_testing.claimant PLACE NAME…

It says `claimed` when it has them all.
"""

import sys

import anyio

from clew.stores import Locks, open_store


async def main(*words: str) -> None:
    """Claim the names; then wait for the end."""
    path, *names = words
    store = open_store(path)
    claimed = isinstance(store, Locks) and all([await store.claim(name) for name in names])
    sys.stdout.write("claimed\n" if claimed else "refused\n")
    sys.stdout.flush()
    await anyio.sleep_forever()


if __name__ == "__main__":
    anyio.run(main, *sys.argv[1:])
