"""What an error says, on one line, whatever its `__str__` does."""


def message_of(error: BaseException) -> str:
    """The error's message on one line; its class where it has none, or none that can be read."""
    try:
        text = " ".join(writable(str(error)).split())
    except BaseException as worse:  # noqa: BLE001 - its own __str__ may raise whatever it likes
        text = f"(its message cannot be read: {type(worse).__name__})"
    return text or type(error).__name__


def described(error: BaseException) -> str:
    """The error's class and message on one line."""
    return f"{type(error).__name__}: {message_of(error)}"


def writable(text: str) -> str:
    """The text as a plain one, with a mark for each half of a character: no record holds those."""
    return str.encode(text, "utf-8", "replace").decode()
