"""The numbers of the calculator: exact fractions, and decimals where a result has no end.

An expression is worked out once for each of `PRECISIONS`: the digits in which both agree hold.
Sizes are checked before a power is computed and after everything else.
"""

import decimal
import math
import operator
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final, TypeAlias

from clew.support.errors import ToolError

Number: TypeAlias = Fraction | Decimal
"""Exact as a fraction; a decimal was rounded to the precision of its context."""

MAX_DIGITS: Final = 4_000
"""Numerators and denominators longer than this are refused, in a result and on the way to it."""

PRECISIONS: Final = (90, 120)

_MAX_BITS: Final = int(MAX_DIGITS * math.log2(10))
_MAX_ROOT: Final = 64
_GUARD_DIGITS: Final = 40
_PI: Final = Decimal(
    "3.141592653589793238462643383279502884197169399375105820974944592307816406286208998628034825"
    "342117067982148086513282306647093844609550582231725359408128"
)


def context(precision: int) -> decimal.Context:
    """The context in which decimals of so many digits are computed."""
    traps = [decimal.InvalidOperation, decimal.Overflow, decimal.Underflow]
    return decimal.Context(prec=precision, Emax=MAX_DIGITS, Emin=-MAX_DIGITS, traps=traps)


def add(left: Number, right: Number) -> Number:
    """The sum."""
    return _computed(operator.add, left, right)


def subtract(left: Number, right: Number) -> Number:
    """The difference."""
    return _computed(operator.sub, left, right)


def multiply(left: Number, right: Number) -> Number:
    """The product."""
    zero = Fraction(0)
    if any(isinstance(each, Fraction) and each == zero for each in (left, right)):
        return zero
    return _computed(operator.mul, left, right)


def divide(left: Number, right: Number) -> Number:
    """The quotient."""
    if not right:
        message = (
            "division by zero is not defined"
            if isinstance(right, Fraction)
            else "the divisor cannot be told from zero with certainty"
        )
        raise ToolError(message)
    return _computed(lambda one, two: one / two, left, right)


def floor_divide(left: Number, right: Number) -> Number:
    """The quotient rounded down, as Python's `//`."""
    return floor(divide(left, right))


def modulo(left: Number, right: Number) -> Number:
    """The remainder with the sign of the divisor, as Python's `%`."""
    return subtract(left, multiply(right, floor_divide(left, right)))


def power(base: Number, exponent: Number) -> Number:
    """`base` to the `exponent`: exact where the result is rational and can be found to be."""
    integral = isinstance(exponent, Fraction) and exponent.denominator == 1
    if isinstance(base, Fraction) and isinstance(exponent, Fraction):
        if integral:
            return _integer_power(base, int(exponent))
        if base > 0 and (root := _exact_root(base, exponent.denominator)) is not None:
            return _integer_power(root, exponent.numerator)
    if base < 0 and not integral:
        message = "a negative number to a fractional power is not a real number"
        raise ToolError(message)
    if not base:
        if exponent > 0:
            return base
        message = "zero to this power is not defined"
        raise ToolError(message)
    if abs(exponent) > 10 ** (decimal.getcontext().prec - _GUARD_DIGITS):  # of the base's rounding
        message = "this power cannot be computed with certainty; use a smaller exponent"
        raise ToolError(message)
    return _decimal(base) ** _decimal(exponent)


def sqrt(value: Number) -> Number:
    """The square root."""
    return power(value, Fraction(1, 2))


def exp(value: Number) -> Number:
    """Euler's number to the power `value`."""
    return _function(Decimal.exp, value)


def ln(value: Number) -> Number:
    """The natural logarithm."""
    return _function(Decimal.ln, _positive(value))


def log10(value: Number) -> Number:
    """The decimal logarithm; exact for powers of ten."""
    return _function(Decimal.log10, _positive(value))


def absolute(value: Number) -> Number:
    """The number without its sign."""
    return -value if value < 0 else value


def floor(value: Number) -> Number:
    """The largest whole number that is not larger."""
    return _rounded(math.floor, value)


def ceil(value: Number) -> Number:
    """The smallest whole number that is not smaller."""
    return _rounded(math.ceil, value)


def rounded(value: Number, decimals: Number | None = None) -> Number:
    """Rounded to decimal places, halves to the even neighbour."""
    count = Fraction(0) if decimals is None else decimals
    if not isinstance(count, Fraction) or count.denominator != 1 or abs(count) > MAX_DIGITS:
        message = f"round() takes a whole number of places up to {MAX_DIGITS}"
        raise ToolError(message)
    return _rounded(lambda end: round(end, int(count)), value)


def minimum(*values: Number) -> Number:
    """The smallest."""
    return min(values, key=_exactly)


def maximum(*values: Number) -> Number:
    """The largest."""
    return max(values, key=_exactly)


def pi() -> Number:
    """The ratio of a circle's circumference to its diameter."""
    return +_PI  # rounded to the context


def checked(number: Fraction) -> Fraction:
    """The number. Raises `ToolError` for one that is too long."""
    if max(number.numerator.bit_length(), number.denominator.bit_length()) > _MAX_BITS:
        raise too_large()
    return number


def uncertain() -> ToolError:
    """What to say where a rounded number decides which whole number comes out."""
    return ToolError(
        "this number is too close to where the rounding changes to be rounded with certainty"
    )


def too_large() -> ToolError:
    """What to say of numbers that are too long."""
    return ToolError(
        f"the numbers get too long: at most {MAX_DIGITS:,} digits are computed; "
        "use smaller numbers or rewrite the expression"
    )


def _exactly(value: Number) -> Fraction:
    return Fraction(value)


def _decimal(value: Number) -> Decimal:
    return value if isinstance(value, Decimal) else Decimal(value.numerator) / value.denominator


def _computed(operation: Callable[[Any, Any], Any], left: Number, right: Number) -> Number:
    if isinstance(left, Fraction) and isinstance(right, Fraction):
        return checked(Fraction(operation(left, right)))
    result: Decimal = operation(_decimal(left), _decimal(right))
    return result


def _function(operation: Callable[[Decimal], Decimal], value: Number) -> Number:
    """A function's value: a fraction where no digit of the argument or the result was lost."""
    with decimal.localcontext() as inner:
        inner.clear_flags()
        result = operation(_decimal(value))
        exact = isinstance(value, Fraction) and not inner.flags[decimal.Inexact]
    return Fraction(result) if exact else result


def _rounded(operation: Callable[[Fraction], Fraction | int], value: Number) -> Fraction:
    if isinstance(value, Fraction):
        return Fraction(operation(value))
    error = Fraction(10) ** (5 - decimal.getcontext().prec)  # more than operations add up to
    low, high = (operation(Fraction(value) * (1 + each)) for each in (-error, error))
    if low != high or not value:
        raise uncertain()
    return checked(Fraction(low))


def _integer_power(base: Fraction, exponent: int) -> Number:
    if exponent < 0:
        return divide(Fraction(1), _integer_power(base, -exponent))
    for part in (base.numerator, base.denominator):
        if (part.bit_length() - 1) * exponent > _MAX_BITS:
            raise too_large()
    return checked(base**exponent)


def _exact_root(base: Fraction, degree: int) -> Fraction | None:
    if degree > _MAX_ROOT:
        return None
    root = Fraction(_integer_root(base.numerator, degree), _integer_root(base.denominator, degree))
    return root if root**degree == base else None


def _integer_root(number: int, degree: int) -> int:
    """The root rounded down, by Newton's method from above."""
    root = 1 << -(-number.bit_length() // degree)
    while (closer := ((degree - 1) * root + number // root ** (degree - 1)) // degree) < root:
        root = closer
    return root


def _positive(value: Number) -> Number:
    if value <= 0:
        message = "a logarithm needs a number above zero"
        raise ToolError(message)
    return value
