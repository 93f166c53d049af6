"""How the contracts say what they found: an `AssertionError` of one line."""


def expect(actual: object, wanted: object, what: str) -> None:
    """Raise `AssertionError` unless both are equal."""
    if actual != wanted:
        raise AssertionError(f"{what}: {wanted!r:.500} expected, {actual!r:.500} found")


def require(holds: object, what: str) -> None:
    """Raise `AssertionError` unless it holds."""
    if not holds:
        raise AssertionError(what)
