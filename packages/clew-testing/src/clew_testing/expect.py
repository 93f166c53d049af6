"""How the contracts say what they found: an `AssertionError` of one line."""


def expect(found: object, wanted: object, what: str) -> None:
    """Raise `AssertionError` unless both are equal."""
    if found != wanted:
        raise AssertionError(f"{what}: {wanted!r:.500} expected, {found!r:.500} found")


def require(holds: object, what: str) -> None:
    """Raise `AssertionError` unless it holds."""
    if not holds:
        raise AssertionError(what)
