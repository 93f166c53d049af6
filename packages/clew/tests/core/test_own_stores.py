"""Whatever a store of one's own does wrong is one line that names it, and its record goes on."""

from collections.abc import Callable
from itertools import product
from typing import Any, Final

import anyio
import pytest

from clew import Agent, Limits, MemoryStore, PartError, StoreError, resume, run
from clew.core.journal import load
from clew.retention import verify
from clew.stores import store_at
from clew.stores.interface import Deletes, Locks, Notifies
from clew.stores.user_store import guarded
from clew.testing.models import ScriptedModel, act, say
from tests.core.scenarios import lookup
from tests.core.test_failures import Odd, Own, Unread

pytestmark = pytest.mark.both_loops


class Store(MemoryStore):
    """Does as told, until one of its methods is made bad."""

    method = ""
    bad: Callable[[], Any] | None = None


def _method(name: str) -> Any:
    async def method(self: Store, *args: Any, **more: Any) -> Any:
        if self.method == name and self.bad is not None:
            return self.bad()
        return await getattr(MemoryStore, name)(self, *args, **more)

    return method


USED: Final = ("create", "open", "append", "read", "inbox")
for _name in USED:
    setattr(Store, _name, _method(_name))


def throwing(error: Callable[[], BaseException]) -> Callable[[], Any]:
    def throw() -> Any:
        raise error()

    return throw


MISDEEDS: Final[dict[str, Callable[[], Any]]] = {
    "raises an error": throwing(lambda: KeyError("x")),
    "exits": throwing(SystemExit),
    "raises what is no Exception": throwing(Own),
    "raises what cannot be read": throwing(Unread),
    "gives the wrong type": Odd,
    "gives nothing": lambda: None,
    "gives a list of the wrong type": lambda: [Odd()],
}


def agent() -> Agent:
    return Agent(ScriptedModel([act("lookup", key="a"), say("ok")]), tools=[lookup])


async def begins(store: Store, **changes: Any) -> Any:
    return await run(agent().replace(**changes), "What?", store=store, run_id="r")


async def goes_on(store: Store) -> Any:
    return await resume(agent(), "r", store=store, accept_change=True)


@pytest.mark.parametrize(
    ("method", "misdeed"),
    [each for each in product(USED, MISDEEDS) if each != ("append", "gives nothing")],
)
async def test_whatever_a_store_does_wrong_is_one_line_and_the_run_goes_on(
    method: str, misdeed: str
) -> None:
    store = Store()
    begun = method in {"open", "read"}
    if begun:
        await begins(store, limits=Limits(steps=1, landing=False))
    store.method, store.bad = method, MISDEEDS[misdeed]
    with pytest.raises(PartError) as caught:
        await (goes_on(store) if begun else begins(store))
    said = str(caught.value)
    assert f"{Store.__module__}.Store ({method})" in said
    assert "\n" not in said
    store.bad = None
    begun = bool(await store.runs())
    assert (await (goes_on(store) if begun else begins(store))).answer == "ok"
    found, lost = await verify(store=store)
    assert ([one.ok for one in found], lost) == ([True], [])
    assert (await load(store, "r")).call("1.1").observation is not None


async def test_what_a_store_says_itself_is_passed_on_and_so_is_the_end_of_the_work() -> None:
    store = Store()
    store.method, store.bad = "append", throwing(lambda: StoreError("the disk is full"))
    with pytest.raises(StoreError, match=r"^the disk is full$"):
        await run(agent(), "What?", store=store)

    class Waiting(Store):
        """Never answers."""

        async def append(self, append: Any) -> bool:
            asked.set()
            await anyio.sleep_forever()
            raise AssertionError

    asked = anyio.Event()
    async with anyio.create_task_group() as work:
        work.start_soon(lambda: run(agent(), "What?", store=Waiting()))
        await asked.wait()
        work.cancel_scope.cancel()


async def test_what_a_store_can_do_is_seen_through_its_guard_and_ours_have_none() -> None:
    class Least:
        """The methods of the protocol, and no others."""

        more = "its own"

    for name in USED:
        setattr(Least, name, _method(name))
    ours: Any = MemoryStore()
    async with store_at(ours) as opened:
        assert opened is ours
    least: Any = guarded(Least())  # type: ignore[arg-type]  # its methods were set above
    assert not isinstance(least, Locks | Deletes)
    assert least.more == "its own"
    whole: Any = guarded(Store())
    assert [isinstance(whole, kind) for kind in (Locks, Deletes)] == [
        isinstance(ours, kind) for kind in (Locks, Deletes)
    ]

    class Telling(Store):
        """Tells at once what was written."""

        def wakes(self) -> str:
            return "awake"

    assert isinstance(guarded(Telling()), Notifies)
    assert not isinstance(whole, Notifies)
    assert guarded(Telling()).wakes() == "awake"  # type: ignore[attr-defined]  # its own method
