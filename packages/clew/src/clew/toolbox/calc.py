"""The tool `calc`: arithmetic, exact if possible; it says when it is not.

Its own parser knows numbers, seven operators, parentheses and the functions and constants below,
and nothing else: no Python is evaluated. Any text gives, within a bounded time, a result or a
`ToolError` that says what to write instead.
"""

import decimal
import math
import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any, Final

from clew.core.tools import Tool
from clew.core.values import Json
from clew.support.errors import ToolError
from clew.toolbox import real_numbers as real
from clew.toolbox.real_numbers import MAX_DIGITS, Number

MAX_CHARACTERS: Final = 1_000
MAX_LEVELS: Final = 100
DISPLAY_DIGITS: Final = 30
"""Significant digits of a result that is not exact."""

_MAX_EXACT_DECIMALS: Final = 100
_DESCRIPTION: Final = (
    "Work out an arithmetic expression exactly. Operators: + - * / // % ** and parentheses; "
    "functions: abs, round, floor, ceil, min, max, sqrt, exp, ln, log10; constants: pi, e. "
    "Write plain numbers only: put facts in as digits, write 15/100 for 15 percent."
)

_SIGNS: Final = {"×": "*", "·": "*", "÷": "/", "\N{MINUS SIGN}": "-", "\N{EN DASH}": "-"}
_THOUSANDS: Final = re.compile(r"(?<![\w.,])[1-9][0-9]{0,2}(?:,[0-9]{3})+(?![\w,])", re.ASCII)
_TOKEN: Final = re.compile(
    r"(?P<number>(?:[0-9](?:_?[0-9])*\.?(?:[0-9](?:_?[0-9])*)?|\.[0-9](?:_?[0-9])*)"
    r"(?:[eE][+-]?[0-9]+)?)"
    r"|(?P<name>[A-Za-z_]\w*)|(?P<sign>\*\*|//|[-+*/%(),])|(?P<space>\s+)|(?P<other>.)",
    re.ASCII | re.DOTALL,
)
_INFIX: Final[dict[str, tuple[int, Callable[[Number, Number], Number]]]] = {
    "+": (1, real.add),
    "-": (1, real.subtract),
    "*": (2, real.multiply),
    "/": (2, real.divide),
    "//": (2, real.floor_divide),
    "%": (2, real.modulo),
    "**": (4, real.power),
}
_UNARY: Final = 3
_FUNCTIONS: Final[dict[str, tuple[range, Callable[..., Number]]]] = {
    "abs": (range(1, 2), real.absolute),
    "round": (range(1, 3), real.rounded),
    "floor": (range(1, 2), real.floor),
    "ceil": (range(1, 2), real.ceil),
    "min": (range(1, MAX_CHARACTERS), real.minimum),
    "max": (range(1, MAX_CHARACTERS), real.maximum),
    "sqrt": (range(1, 2), real.sqrt),
    "exp": (range(1, 2), real.exp),
    "ln": (range(1, 2), real.ln),
    "log10": (range(1, 2), real.log10),
}
_CONSTANTS: Final[dict[str, Callable[[], Number]]] = {
    "pi": real.pi,
    "e": lambda: real.exp(Fraction(1)),
}
_LESSONS: Final = {
    "^": "'^' is not an operator here: write ** for a power",
    "=": "leave out '=': write only the expression to work out",
    "!": "factorials are not offered: write the product out",
    ",": "',' stands only between arguments, or in groups of three digits as in 1,234,567",
    "$": "leave out currency signs: write the number alone",
    "€": "leave out currency signs: write the number alone",
    "£": "leave out currency signs: write the number alone",
    "log": "say which logarithm: ln(x) or log10(x)",
    "of": "write 'of' as *: 15 percent of 80 is 15/100 * 80",
    "x": "write * for multiplication",
    "": "the expression ends too early: a number is missing",
}


def calc() -> Tool:
    """The tool over `calculate`; its answer says whether it is exact."""

    def call(args: dict[str, Json], key: str) -> Any:
        try:
            return calculate(args["expression"])
        except ToolError as error:
            raise ToolError(str(error), trusted=True) from error

    return Tool(
        name="calc",
        description=_DESCRIPTION,
        parameters={
            "type": "object",
            "properties": {
                "expression": {
                    "type": "string",
                    "description": "What to work out, e.g. (1949 - 1903) * 365 or sqrt(2) / 2",
                }
            },
            "required": ["expression"],
            "additionalProperties": False,
        },
        call=call,
        effect="pure",
        trust="trusted",
        examples=({"expression": "9876543 * 1234567"},),
    )


def calculate(expression: str) -> dict[str, Json]:
    """Work out an expression of at most 1,000 characters.

    Gives `expression` (as it came), `result` (a decimal numeral) and `exact`. What was changed to
    read it stands in `read_as` (1,000 became 1000; × became *). A result that is not exact says in
    `precision` how many of its digits are certain (30 unless digits cancelled out), and in
    `fraction` its exact value if it has a short one. Raises `ToolError` for anything else than
    arithmetic and for numbers over 4,000 digits.
    """
    if len(expression) > MAX_CHARACTERS:
        message = (
            f"the expression has {len(expression):,} characters, at most {MAX_CHARACTERS:,} are "
            "read: work it out in parts"
        )
        raise ToolError(message)
    read_as = _normalised(expression)
    changed = {} if read_as == expression else {"read_as": read_as}
    less, more = (_worked_out(read_as, precision) for precision in real.PRECISIONS)
    return {"expression": expression, **changed, **_as_json(less, more)}


def _worked_out(text: str, precision: int) -> Number:
    try:
        with decimal.localcontext(real.context(precision)):
            return _ExpressionReader(text).read()
    except decimal.DecimalException:
        raise real.too_large() from None


class _ExpressionReader:
    """Reads one expression from left to right and works it out on the way (Pratt's method)."""

    def __init__(self, text: str) -> None:
        self._tokens = [
            (match.lastgroup or "", match.group())
            for match in _TOKEN.finditer(text)
            if match.lastgroup != "space"
        ]
        self._tokens.append(("end", ""))
        self._index = 0
        self._level = 0

    def read(self) -> Number:
        if len(self._tokens) == 1:
            message = "the expression is empty: write one such as (3 + 4) * 12"
            raise ToolError(message)
        value = self._expression(0)
        if self._next()[0] != "end":
            raise self._unexpected()
        return value

    def _next(self) -> tuple[str, str]:
        return self._tokens[self._index]

    def _take(self) -> tuple[str, str]:
        token = self._next()
        self._index += 1
        return token

    def _expression(self, above: int) -> Number:
        """Read operands joined by operators that bind more tightly than `above`."""
        self._level += 1
        if self._level > MAX_LEVELS:
            message = (
                f"the expression is nested over {MAX_LEVELS} levels deep: work it out in parts"
            )
            raise ToolError(message)
        value = self._operand()
        while (infix := _INFIX.get(self._next()[1])) is not None and infix[0] > above:
            sign = self._take()[1]
            strength, operation = infix
            value = operation(value, self._expression(strength - (sign == "**")))
        self._level -= 1
        return value

    def _operand(self) -> Number:
        kind, text = self._next()
        if kind == "number":
            self._take()
            return _number(text)
        if kind == "name":
            return self._named()
        if text in {"+", "-"}:
            return self._signed()
        if text != "(":
            raise self._unexpected()
        self._take()
        value = self._expression(0)
        self._close()
        return value

    def _signed(self) -> Number:
        minus = 0
        while self._next()[1] in {"+", "-"}:
            minus += self._take()[1] == "-"
        value = self._expression(_UNARY)
        return -value if minus % 2 else value

    def _named(self) -> Number:
        name = self._next()[1]
        if (constant := _CONSTANTS.get(name)) is not None:
            self._take()
            return constant()
        if (function := _FUNCTIONS.get(name)) is None:
            raise self._unexpected()
        self._take()
        if self._next()[1] != "(":
            message = f"write {name} with parentheses: {name}(…)"
            raise ToolError(message)
        self._take()
        arguments = [self._expression(0)]
        while self._next()[1] == ",":
            self._take()
            arguments.append(self._expression(0))
        self._close()
        counts, operation = function
        if len(arguments) not in counts:
            message = f"{name}() takes at most {counts[-1]} arguments, not {len(arguments)}"
            raise ToolError(message)
        return operation(*arguments)

    def _close(self) -> None:
        if self._next()[1] == ")":
            self._take()
            return
        if self._next()[0] == "end":
            message = "a parenthesis is not closed: add ')'"
            raise ToolError(message)
        raise self._unexpected()

    def _unexpected(self) -> ToolError:
        kind, text = self._next()
        after = self._index and self._tokens[self._index - 1]
        if after and after[1] == "%" and text != "of":
            return ToolError("'%' is the remainder of a division: for percent write /100")
        if text in _LESSONS:
            return ToolError(_LESSONS[text])
        if kind == "name" and not (text in _FUNCTIONS or text in _CONSTANTS):
            names = ", ".join([*_FUNCTIONS, *_CONSTANTS])
            return ToolError(
                f"{text[:40]!r} is not known here: use numbers, + - * / // % ** and {names}"
            )
        if kind in {"number", "name"} or text == "(":
            return ToolError(f"an operator is missing before {text[:40]!r}: write * to multiply")
        return ToolError(
            f"{text!r} cannot stand here: an operand is missing or it is no arithmetic"
        )


_DATE: Final = re.compile(r"(?<![\w.])[12]\d{3}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])(?![\w.])")
"""A date as ISO 8601 has it."""


def _normalised(expression: str) -> str:
    """Replace typographic signs and take the commas out of 1,234,567, outside of arguments."""
    text = "".join(_SIGNS.get(character, character) for character in expression)
    if date := _DATE.search(text):
        spaced = " - ".join(str(int(part)) for part in date[0].split("-"))
        message = (
            f"{date[0]} looks like a date, and dates are not computed: to subtract, write {spaced}"
        )
        raise ToolError(message)
    return _THOUSANDS.sub(lambda match: _ungrouped(match, text), text)


def _ungrouped(match: re.Match[str], text: str) -> str:
    if not _among_arguments(text[: match.start()]):
        return match.group().replace(",", "")
    spaced = match.group().replace(",", ", ")
    digits = match.group().replace(",", "")
    message = f"{match.group()} may be one number or several here: write {digits} or {spaced}"
    raise ToolError(message)


def _among_arguments(before: str) -> bool:
    """Whether a function's parenthesis is open at the end of `before`."""
    functions: list[bool] = []
    name = False
    for _, text in ((m.lastgroup, m.group()) for m in _TOKEN.finditer(before)):
        if text == "(":
            functions.append(name)
        elif text == ")" and functions:
            functions.pop()
        name = text in _FUNCTIONS or (name and text.isspace())
    return any(functions)


def _number(text: str) -> Number:
    """A decimal numeral, exactly."""
    mantissa, _, exponent = text.replace("_", "").lower().partition("e")
    if exponent and abs(int(exponent)) > MAX_DIGITS:
        message = f"{text[:40]} is out of range: at most {MAX_DIGITS:,} digits are computed"
        raise ToolError(message)
    return real.checked(Fraction(mantissa) * Fraction(10) ** int(exponent or 0))


def _as_json(less: Number, more: Number) -> dict[str, Json]:
    """The result by its values of less and of more precision."""
    if isinstance(more, Fraction):
        if less != more:
            raise real.uncertain()
        return _exact(more)
    for digits in range(DISPLAY_DIGITS, 0, -1):
        text = _significant(Fraction(more), digits)
        if more and text == _significant(Fraction(less), digits):
            return {"result": text, "exact": False, **_precision(digits)}
    raise ToolError("the digits cancel out: the result cannot be told from zero")


def _exact(number: Fraction) -> dict[str, Json]:
    if (decimals := _decimals(number)) is not None:
        return {"result": _plain(number, decimals), "exact": True}
    text = _significant(number, DISPLAY_DIGITS)
    if Fraction(text) == number:
        return {"result": text, "exact": True}
    ratio = f"{number.numerator}/{number.denominator}"
    fraction = {"fraction": ratio} if len(ratio) <= 2 * DISPLAY_DIGITS else {}
    return {"result": text, "exact": False, **_precision(DISPLAY_DIGITS), **fraction}


def _precision(digits: int) -> dict[str, Json]:
    return {"precision": f"rounded to {digits} significant digits"}


def _decimals(number: Fraction) -> int | None:
    """How many decimal places write the number out in full; None if none or too many do."""
    rest, decimals = number.denominator, 0
    for prime in (2, 5):
        count = 0
        while rest % prime == 0:
            rest //= prime
            count += 1
        decimals = max(decimals, count)
    return decimals if rest == 1 and decimals <= _MAX_EXACT_DECIMALS else None


def _plain(number: Fraction, decimals: int) -> str:
    """The number, which has at most so many decimal places, without an exponent."""
    digits = str(abs(number.numerator) * 10**decimals // number.denominator).rjust(
        decimals + 1, "0"
    )
    sign = "-" if number < 0 else ""
    return sign + (f"{digits[:-decimals]}.{digits[-decimals:]}" if decimals else digits)


def _significant(number: Fraction, digits: int) -> str:
    """The number rounded to so many significant digits (halves to even), trailing zeros cut."""
    if number == 0:
        return "0"
    size = abs(number)
    rounded_size = round(size, digits - _exponent(size))
    exponent = _exponent(rounded_size)
    sign = "-" if number < 0 else ""
    if -DISPLAY_DIGITS < exponent <= DISPLAY_DIGITS:
        return sign + _plain(rounded_size, _decimals(rounded_size) or 0)
    mantissa = rounded_size / Fraction(10) ** (exponent - 1)
    return f"{sign}{_plain(mantissa, _decimals(mantissa) or 0)}e{exponent - 1}"


def _exponent(size: Fraction) -> int:
    """The power of ten just above the number."""
    bits = size.numerator.bit_length() - size.denominator.bit_length()
    exponent = math.floor((bits - 1) * math.log10(2))
    while Fraction(10) ** exponent <= size:
        exponent += 1
    return exponent
