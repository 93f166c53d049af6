"""A person takes a wrong branch out of what a run's model sees."""

from clew.agent.labels import check_by, load_of
from clew.core.effects import effects_after
from clew.core.events import Rewound
from clew.core.inbox import encode_message
from clew.stores import Where, store_at
from clew.support.arguments import check_number
from clew.support.errors import ConfigError
from clew.support.settings import check_text
from clew.support.short_text import counted, one_line


async def rewind(
    run_id: str,
    *,
    to: int,
    lesson: str,
    by: str = "a person",
    store: Where = None,
    owner: str | None = None,
) -> None:
    """Leave the steps after step `to` out of a run's view, as a wrong branch (0: all of them).

    `lesson` says in a line what was wrong, and what to do instead; the model reads it in their
    place, with what was done in them. To do that again waits for a person, as in a fork. The record
    keeps the steps, and what they spent stays spent. It goes into the run's inbox: a run at work
    takes it at its next step, a stopped one when it is resumed. With an `owner`, another's run is
    not found. Raises `ConfigError` where no step follows `to`, calls wait, or the lesson is empty.
    """
    check_number("to", to)
    check_text("lesson", lesson)
    check_by(by)
    text = one_line(lesson)
    async with store_at(store) as opened:
        record = await load_of(opened, run_id, owner)
        if not 0 <= to < len(record.steps):
            message = (
                f"run {run_id} has {counted(len(record.steps), 'step')}: none follows step {to}"
            )
            raise ConfigError(message)
        if not text:
            raise ConfigError("a rewind needs a lesson: say what was wrong, and what to do instead")
        if record.step.pending:
            waiting = record.step.pending[0].key
            raise ConfigError(
                f"call {waiting} of run {run_id} is open: rule on it, or resume the run"
            )
        done = await effects_after(opened, record, to)
        await opened.post(run_id, encode_message(Rewound(to, text, by, done)))
