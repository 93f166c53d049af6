"""What `clew doctor` says of the sandbox."""

from collections.abc import Iterator

from clew_code.sandbox.kernel import kernel


def findings() -> Iterator[tuple[str, bool, str]]:
    """Each wall: its name, whether this kernel has it, and what that rests on."""
    for wall in kernel().walls:
        yield wall.name, wall.built, wall.detail
