"""Numbers that know what is known of them: exact rationals, and bounds around irrational ones.

Every operation works on both ends and rounds outwards (interval arithmetic), so a digit that is
shown is certain. Sizes are checked before a power is computed and after everything else.
"""

import decimal
import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Final

from clew.core.errors import ToolError

MOST_DIGITS: Final = 4_000
"""Numerators and denominators longer than this are refused, in a result and on the way to it."""

_MOST_BITS: Final = int(MOST_DIGITS * math.log2(10))
_KEPT_BITS: Final = 280
_ROOTS: Final = 64
_DIGITS: Final = 90
_LOOSE: Final = Fraction(1, 10**88)
_DECIMAL: Final = decimal.Context(
    prec=_DIGITS,
    Emax=MOST_DIGITS,
    Emin=-MOST_DIGITS,
    traps=[decimal.InvalidOperation, decimal.Overflow, decimal.Underflow],
)


@dataclass(frozen=True, slots=True)
class Span:
    """A number that lies between `low` and `high`; exact when they are the same."""

    low: Fraction
    high: Fraction

    @property
    def exact(self) -> bool:
        """Whether the number is known exactly."""
        return self.low == self.high

    @property
    def holds_zero(self) -> bool:
        """Whether the number may be zero."""
        return self.low <= 0 <= self.high


def span(low: Fraction | int, high: Fraction | int | None = None) -> Span:
    """Make a span from its ends in any order, or an exact number from one. Refuses huge ones."""
    first = Fraction(low)
    second = first if high is None else Fraction(high)
    if first != second:
        first, second = _outwards(min(first, second), max(first, second))
    for end in (first, second):
        if max(end.numerator.bit_length(), end.denominator.bit_length()) > _MOST_BITS:
            raise _too_large()
    return Span(first, second)


def add(left: Span, right: Span) -> Span:
    """The sum."""
    return span(left.low + right.low, left.high + right.high)


def subtract(left: Span, right: Span) -> Span:
    """The difference."""
    return add(left, negative(right))


def multiply(left: Span, right: Span) -> Span:
    """The product."""
    return _corners(lambda one, two: one * two, left, right)


def divide(left: Span, right: Span) -> Span:
    """The quotient."""
    _refuse_zero(right)
    return _corners(lambda one, two: one / two, left, right)


def floor_divide(left: Span, right: Span) -> Span:
    """The quotient rounded down, as Python's `//`."""
    return floor(divide(left, right))


def modulo(left: Span, right: Span) -> Span:
    """The remainder with the sign of the divisor, as Python's `%`."""
    return subtract(left, multiply(right, floor_divide(left, right)))


def negative(value: Span) -> Span:
    """The number with the other sign."""
    return Span(-value.high, -value.low)


def power(base: Span, exponent: Span) -> Span:
    """`base` to the `exponent`: exact where the result is rational and can be found to be."""
    if exponent.exact and exponent.low.denominator == 1:
        return _whole_power(base, int(exponent.low))
    if base.low < 0:
        message = "a negative number to a fractional power is not a real number"
        raise ToolError(message)
    if base.holds_zero:
        if base.exact and exponent.low > 0:
            return span(0)
        message = "zero to this power is not defined"
        raise ToolError(message)
    if base.exact and exponent.exact and (root := _exact_root(base.low, exponent.low)):
        return _whole_power(span(root), exponent.low.numerator)
    ends = [_near_power(one, two) for one in _ends(base) for two in _ends(exponent)]
    return span(min(end.low for end in ends), max(end.high for end in ends))


def sqrt(value: Span) -> Span:
    """The square root."""
    return power(value, span(Fraction(1, 2)))


def exp(value: Span) -> Span:
    """Euler's number to the power `value`."""
    if value == span(0):
        return span(1)
    slack = _LOOSE * (10 + abs(value.low) + abs(value.high))
    near = _monotone(_DECIMAL.exp, value)
    return span(near.low * (1 - slack), near.high * (1 + slack))


def ln(value: Span) -> Span:
    """The natural logarithm."""
    _refuse_unless_positive(value)
    return span(0) if value == span(1) else _loosened(_monotone(_DECIMAL.ln, value))


def log10(value: Span) -> Span:
    """The decimal logarithm; exact for powers of ten."""
    _refuse_unless_positive(value)
    near = _loosened(_monotone(_DECIMAL.log10, value))
    whole = round(near.low)
    return span(whole) if value == span(Fraction(10) ** whole) else near


def absolute(value: Span) -> Span:
    """The number without its sign."""
    if value.holds_zero:
        return span(0, max(-value.low, value.high))
    return value if value.low > 0 else negative(value)


def floor(value: Span) -> Span:
    """The largest whole number that is not larger."""
    return _whole_numbers(math.floor, value)


def ceil(value: Span) -> Span:
    """The smallest whole number that is not smaller."""
    return _whole_numbers(math.ceil, value)


def rounded(value: Span, places: Span | None = None) -> Span:
    """Rounded to decimal places, halves to the even neighbour."""
    count = span(0) if places is None else places
    if not count.exact or count.low.denominator != 1 or abs(count.low) > MOST_DIGITS:
        message = f"round() takes a whole number of places up to {MOST_DIGITS}"
        raise ToolError(message)
    return _whole_numbers(lambda end: round(end, int(count.low)), value)


def least(*values: Span) -> Span:
    """The smallest."""
    return span(min(value.low for value in values), min(value.high for value in values))


def most(*values: Span) -> Span:
    """The largest."""
    return span(max(value.low for value in values), max(value.high for value in values))


PI: Final = Fraction(
    "3.14159265358979323846264338327950288419716939937510"
    "5820974944592307816406286208998628034825342117067"
)


def pi() -> Span:
    """The ratio of a circle's circumference to its diameter."""
    return span(PI, PI + _LOOSE)


def _outwards(low: Fraction, high: Fraction) -> tuple[Fraction, Fraction]:
    """Shorten the ends of an inexact number without losing it."""
    largest = max(abs(low), abs(high))
    shift = _KEPT_BITS - (largest.numerator.bit_length() - largest.denominator.bit_length())
    unit = Fraction(2) ** -shift
    return math.floor(low / unit) * unit, math.ceil(high / unit) * unit


def _ends(value: Span) -> tuple[Fraction, ...]:
    return (value.low,) if value.exact else (value.low, value.high)


def _corners(operation: Callable[[Fraction, Fraction], Fraction], left: Span, right: Span) -> Span:
    results = [operation(one, two) for one in _ends(left) for two in _ends(right)]
    return span(min(results), max(results))


def _whole_numbers(operation: Callable[[Fraction], Fraction | int], value: Span) -> Span:
    low, high = operation(value.low), operation(value.high)
    if low != high:
        message = (
            "this number is too close to where the rounding changes to be rounded with certainty"
        )
        raise ToolError(message)
    return span(low)


def _whole_power(base: Span, exponent: int) -> Span:
    if exponent < 0:
        return divide(span(1), _whole_power(base, -exponent))
    for end in _ends(base):
        for part in (end.numerator, end.denominator):
            if (part.bit_length() - 1) * exponent > _MOST_BITS:
                raise _too_large()
    results = [end**exponent for end in _ends(base)]
    if exponent and not base.exact and base.holds_zero:
        results.append(Fraction(0))
    return span(min(results), max(results))


def _exact_root(base: Fraction, exponent: Fraction) -> Fraction | None:
    degree = exponent.denominator
    if degree > _ROOTS:
        return None
    above = _whole_root(base.numerator, degree)
    below = _whole_root(base.denominator, degree)
    if above**degree == base.numerator and below**degree == base.denominator:
        return Fraction(above, below)
    return None


def _whole_root(number: int, degree: int) -> int:
    """The root rounded down, by Newton's method from above."""
    root = 1 << -(-number.bit_length() // degree)
    while (closer := ((degree - 1) * root + number // root ** (degree - 1)) // degree) < root:
        root = closer
    return root


def _decimal(number: Fraction) -> Decimal:
    return _DECIMAL.divide(Decimal(number.numerator), Decimal(number.denominator))


def _near_power(base: Fraction, exponent: Fraction) -> Span:
    """A power by logarithms, with the error that rounding base and exponent can cause."""
    try:
        value = Fraction(_DECIMAL.power(_decimal(base), _decimal(exponent)))
        logarithm = Fraction(_DECIMAL.ln(_decimal(base)))
    except decimal.DecimalException:
        raise _too_large() from None
    error = _LOOSE * (10 + abs(exponent) * (1 + abs(logarithm)))
    if error > Fraction(1, 10**6):
        message = "this power cannot be computed with certainty; use a smaller exponent"
        raise ToolError(message)
    return span(value * (1 - error), value * (1 + error))


def _monotone(operation: Callable[[Decimal], Decimal], value: Span) -> Span:
    """Apply a growing function to both ends; the caller adds what rounding may have cost."""
    try:
        low, high = (Fraction(operation(_decimal(end))) for end in (value.low, value.high))
    except decimal.DecimalException:
        raise _too_large() from None
    return span(low, high)


def _loosened(logarithm: Span) -> Span:
    """Add what a relative error of the argument does to a logarithm: an absolute one."""
    error = _LOOSE * (1 + max(abs(logarithm.low), abs(logarithm.high)))
    return span(logarithm.low - error, logarithm.high + error)


def _refuse_zero(divisor: Span) -> None:
    if divisor.holds_zero:
        message = (
            "division by zero is not defined"
            if divisor.exact
            else "the divisor cannot be told from zero with certainty"
        )
        raise ToolError(message)


def _refuse_unless_positive(value: Span) -> None:
    if value.low <= 0:
        message = "a logarithm needs a number above zero"
        raise ToolError(message)


def _too_large() -> ToolError:
    return ToolError(
        f"the numbers get too long: at most {MOST_DIGITS:,} digits are computed; "
        "use smaller numbers or rewrite the expression"
    )
