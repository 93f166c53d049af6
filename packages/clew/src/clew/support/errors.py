"""What a programmer may have to catch. What goes wrong *inside* a run is an event."""


class ClewError(Exception):
    """Base of everything clew raises; its message is one line that says what to do."""


class ConfigError(ClewError):
    """The parts of an agent, or other settings, do not fit together.

    `field` names the setting that does not fit; it is empty where that is no single one. `install`
    is the command that adds what is missing, if that is all. `placed`: the message says in which
    line of a file it is.
    """

    def __init__(
        self, message: str = "", *, field: str = "", install: str = "", placed: bool = False
    ) -> None:
        super().__init__(message)
        self.field = field
        self.install = install
        self.placed = placed


class NotHeldError(ConfigError):
    """The call does not wait for a person."""


class AlreadyRuledError(ConfigError):
    """Somebody has ruled on the call before, and the first word counts."""


class StaleApprovalError(ConfigError):
    """The call waits, but it changed since it was shown: look again."""


class RunBusyError(ConfigError):
    """Another process works on the run: say something to it, which waits, or take it over."""


class ModelError(ClewError):
    """The provider gave no reply. Nothing was recorded; the run stays open."""


class TooLongError(ModelError):
    """The prompt does not fit the model's window."""


class NotAnsweredError(ClewError):
    """`unwrap` of a result that is no answer; `reason` says why, or what the run waits for."""

    def __init__(self, run_id: str, status: str, reason: str) -> None:
        super().__init__(run_id, status, reason)
        self.run_id = run_id
        self.status = status
        self.reason = reason

    def __str__(self) -> str:
        return f"run {self.run_id} has no answer: {self.reason}"


class StoreError(ClewError):
    """A record could not be read or written."""


class RunNotFoundError(StoreError):
    """The store has no run with this id."""


class RunExistsError(StoreError):
    """The store already has a run with this id."""


class StoreBusyError(StoreError):
    """Another process held a lock for longer than the store's `patience`: try again."""


class StoreUnreachableError(StoreError):
    """The store's server does not answer, or its file or folder is gone.

    `gone` says the latter: it may come back only if somebody puts it back.
    """

    gone = False


class StoreDamagedError(StoreError):
    """The store does not contain what was written."""


class StoreNewerError(StoreError):
    """A newer version of clew wrote the store or the record; it may be intact."""


class ReplayError(StoreError):
    """A replay differs from its record.

    `step` is the number of the step (0 before the first thought); `field` is the dotted name of the
    first field that differs.
    """

    def __init__(self, step: int, field: str, message: str) -> None:
        super().__init__(f"step {step}, {field}: {message}")
        self.step = step
        self.field = field


class FencedError(StoreError):
    """Another worker has opened the run since; this one can append nothing more."""


class PartError(ClewError):
    """A part of your own failed: it raised, hung, or returned a wrong value. The run stays open."""


class ToolError(ClewError):
    """Raise it in a tool to tell the model what is wrong. It promises that nothing was done.

    Its text may quote what the tool read, so it is untrusted; `trusted` says that it does not.
    """

    def __init__(self, *args: object, trusted: bool = False) -> None:
        super().__init__(*args)
        self.trusted = trusted
