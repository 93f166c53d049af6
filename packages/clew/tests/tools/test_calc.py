import operator
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from clew.support.errors import ToolError
from clew.toolbox.calc import calc, calculate


def result(expression: str) -> str:
    answer = calculate(expression)
    assert answer["exact"] is True
    return str(answer["result"])


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("9876543 * 1234567", "12193254061881"),
        ("0.1 + 0.2", "0.3"),
        ("1/8", "0.125"),
        ("-1/8", "-0.125"),
        ("-2**2", "-4"),
        ("2**-1", "0.5"),
        ("2**3**2", "512"),
        ("10 - 4 - 3", "3"),
        ("-7 // 2", "-4"),
        ("-7 % 3", "2"),
        ("7.5 % 2", "1.5"),
        ("--3 + +2 - -1", "6"),
        ("((2 + 3)) * 4", "20"),
        ("1_000 + .5 + 5. + 1.5e3", "2505.5"),
        ("10**-150", "1e-150"),
        ("8**(1/3)", "2"),
        ("(4/9)**0.5 * 3", "2"),
        ("(4/9)**-0.5", "1.5"),
        ("0**0.5", "0"),
        ("0 ** 0", "1"),
        ("sqrt(10**100)", "1" + "0" * 50),
        ("abs(-3) + abs(2) + abs(0)", "5"),
        ("round(2.675, 2)", "2.68"),
        ("round(2.5) + round(1234, -2)", "1202"),
        ("floor(-0.5) + ceil(-0.5)", "-1"),
        ("floor(sqrt(2) * 100)", "141"),
        ("sqrt(10) // 1", "3"),
        ("min(3, 1, 2) + max(3, 1, 2)", "4"),
        ("max(1, 234)", "234"),
        ("ln(1) + exp(0)", "1"),
        ("log10(1000) + log10(1/10)", "2"),
        ("1**(10**3000)", "1"),
        ("0 * (1/3)", "0"),
        ("0 * sqrt(2)", "0"),
        ("floor(ln(10**3000))", "6907"),
    ],
)
def test_it_works_out_exactly(expression: str, expected: str) -> None:
    assert result(expression) == expected


@pytest.mark.parametrize(
    ("expression", "read_as", "expected"),
    [
        ("1,234,567 * 2", "1234567 * 2", "2469134"),
        ("1,234.5 + max(1, 2)", "1234.5 + max(1, 2)", "1236.5"),
        ("(1,000) + 1", "(1000) + 1", "1001"),
        ("max(1, 2) + 1,000", "max(1, 2) + 1000", "1002"),
        ("6 × 7 ÷ 2 − 1", "6 * 7 / 2 - 1", "20"),
    ],
)
def test_what_it_changes_to_read_the_expression_is_told(
    expression: str, read_as: str, expected: str
) -> None:
    assert calculate(expression) == {
        "expression": expression,
        "read_as": read_as,
        "result": expected,
        "exact": True,
    }


@pytest.mark.parametrize(
    ("expression", "expected", "digits"),
    [
        ("1/3", "0." + "3" * 30, 30),
        ("-200/3", "-66." + "6" * 27 + "7", 30),
        ("2**0.5", "1.41421356237309504880168872421", 30),
        ("sqrt(2) * sqrt(2)", "2", 30),
        ("pi", "3.14159265358979323846264338328", 30),
        ("e", "2.71828182845904523536028747135", 30),
        ("ln(2) / ln(1.05)", "14.2066990828904741303202336319", 30),
        ("10**40 / 3", "3." + "3" * 29 + "e39", 30),
        ("1 / 3 / 10**40", "3." + "3" * 29 + "e-41", 30),
        ("ln(10**3000)", "6907.75527898213705205397436405", 30),
        ("-pi", "-3.14159265358979323846264338328", 30),
        ("2 ** pi", "8.82497782707628762385642960421", 30),
        ("abs(1 - sqrt(2))", "0.414213562373095048801688724210", 30),
        ("2**0.01", "1.00695555005671880883269821411", 30),
        ("log10(2)", "0.301029995663981195213738894724", 30),
        ("min(pi, e) + max(pi, 3) - e", "3.14159265358979323846264338328", 30),
    ],
)
def test_what_is_not_exact_says_how_many_digits_are_certain(
    expression: str, expected: str, digits: int
) -> None:
    answer = calculate(expression)
    assert answer["exact"] is False
    assert Fraction(answer["result"]) == Fraction(expected)
    assert answer["precision"] == f"rounded to {digits} significant digits"


def test_digits_that_cancel_out_are_not_shown() -> None:
    answer = calculate("sqrt(10**60 + 1) - 10**30")
    assert Fraction(answer["result"]) == Fraction(1, 2 * 10**30)
    near = calculate("sqrt(10**75 + 1) - 10**37.5")
    assert near["precision"] == "rounded to 16 significant digits"
    assert near["result"] == "1.58113883008419e-38"
    assert calculate("sqrt(10**70 + 2) - 10**35")["result"] == "1e-35"


def test_a_short_fraction_is_given_beside_its_decimals() -> None:
    assert calculate("22/7")["fraction"] == "22/7"
    assert "fraction" not in calculate("1 / (3 * 10**80 + 1)")


def test_pi_is_right_to_the_last_digit_kept() -> None:
    def arctangent(inverse: int, digits: int) -> int:
        total: int = 10**digits // inverse
        term = total
        for odd in range(3, 2 * digits, 2):
            term //= -(inverse**2)
            total += term // odd
        return total

    machin = 4 * (4 * arctangent(5, 120) - arctangent(239, 120))
    assert result(f"floor(pi * 10**80) - {machin // 10**40}") == "0"


@pytest.mark.parametrize(
    ("expression", "lesson"),
    [
        ("", "empty"),
        ("   ", "empty"),
        ("9**9**9**9", "4,000 digits"),
        ("10**100000", "4,000 digits"),
        ("(1/10)**100000", "4,000 digits"),
        ("2**-100000", "4,000 digits"),
        ("10**3999 * 10**3999", "4,000 digits"),
        ("1e5000", "4,000 digits"),
        ("1e" + "9" * 900, "4,000 digits"),
        ("exp(10**6)", "4,000 digits"),
        ("2 ** (100000.5)", "4,000 digits"),
        ("(1 + 10**-99)**(10**90 + 0.5)", "certainty"),
        ("0**-1", "division by zero"),
        ("1/0", "division by zero"),
        ("1 // (2 - 2)", "division by zero"),
        ("1 % 0", "division by zero"),
        ("1 / (sqrt(2) - sqrt(2))", "told from zero"),
        ("sqrt(2) - sqrt(2)", "told from zero"),
        ("abs(sqrt(2) - sqrt(2))", "told from zero"),
        ("(sqrt(2) - sqrt(2))**2", "told from zero"),
        ("floor(sqrt(2)**2)", "too close"),
        ("sqrt(2)**2 - 2", "told from zero"),
        ("sqrt(10**183 + 1) - 10**91.5", "told from zero"),
        ("ln(1 + 10**-150)", "told from zero"),
        ("ceil(sqrt(2) - sqrt(2))", "too close"),
        ("(1 + 10**-150)**(10**150 + 0.5)", "certainty"),
        ("(-8)**(1/3)", "not a real number"),
        ("0**-0.5", "zero to this power"),
        ("ln(0)", "above zero"),
        ("log10(-1)", "above zero"),
        ("round(2, 0.5)", "whole number of places"),
        ("round(2, 10**9)", "whole number of places"),
        ("round(2, pi)", "whole number of places"),
        ("abs(1, 2)", "at most 1 argument"),
        ("max(1,234)", "write 1234 or 1, 234"),
        ("max (2, (1,234))", "write 1234 or 1, 234"),
        ("1,23", "groups of three"),
        ("0,123", "groups of three"),
        ("15% of 80", "15/100"),
        ("20%", "for percent write /100"),
        ("20% + 1)", "cannot stand here"),
        ("2 ^ 3", "write \\*\\* for a power"),
        ("2 + 2 =", "leave out '='"),
        ("5!", "factorials"),
        ("$5 + 1", "currency"),
        ("log(3)", "ln\\(x\\) or log10\\(x\\)"),
        ("3 x 4", "write \\* for multiplication"),
        ("2(3)", "write \\* to multiply"),
        ("2 pi", "write \\* to multiply"),
        ("1 2", "write \\* to multiply"),
        ("max", "with parentheses"),
        ("(1", "add '\\)'"),
        ("max(1 2)", "write \\* to multiply"),
        ("1)", "cannot stand here"),
        ("()", "cannot stand here"),
        ("1 +", "ends too early"),
        ("0x10", "'x10' is not known"),
        ("__import__('os').system('true')", "not known"),
        ("٣ + 1", "cannot stand here"),
        ("1 + 'a'", "cannot stand here"),
        ("(" * 400 + "1" + ")" * 400, "nested"),
        ("2**" * 300 + "1", "nested"),
        ("1+" * 500 + "1", "1,001 characters"),
    ],
)
def test_what_it_cannot_do_is_refused_with_what_to_write_instead(
    expression: str, lesson: str
) -> None:
    with pytest.raises(ToolError, match=lesson) as caught:
        calculate(expression)
    assert "\n" not in str(caught.value)


def test_a_thousand_characters_are_read() -> None:
    assert result("1+" * 499 + "12") == "511"
    assert result("-" * 999 + "1") == "-1"


@given(st.text(max_size=1000) | st.text("0123456789.,+-*/%()e piln sqrtmaxround", max_size=200))
@example("9**" * 333 + "9")
@example("sqrt(" * 24 + "2" + ")" * 24)
@example("+".join(f"1/{10**12 + n}" for n in range(60)))
@example("*".join(["(10**3999/(10**3999-1))"] * 40))
@example("+".join(["pi**9.5"] * 120))
@example("exp(" * 40 + "1" + ")" * 40)
@example("\x00")
@example("\ud800")
def test_any_text_is_a_result_or_a_tool_error(text: str) -> None:
    try:
        answer = calculate(text)
    except ToolError:
        return
    assert answer["expression"] == text
    assert Decimal(answer["result"]).is_finite()


OPERATORS = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "//": operator.floordiv,
    "%": operator.mod,
}
Tree = tuple[str, Fraction | None]
"""An expression and its value by Python's own Fraction; None where it is not defined."""


def _joined(parts: tuple[Tree, str, Tree]) -> Tree:
    (left, one), sign, (right, two) = parts
    text = f"({left} {sign} {right})"
    if one is None or two is None or (two == 0 and sign in {"/", "//", "%"}):
        return text, None
    return text, Fraction(OPERATORS[sign](one, two))


leaves = (st.integers(0, 10**9) | st.decimals(0, 10**6, places=3)).map(
    lambda number: (str(number), Fraction(number))
)
trees = st.recursive(
    leaves,
    lambda inner: (
        st.tuples(inner, st.sampled_from(list(OPERATORS)), inner).map(_joined)
        | inner.map(lambda tree: (f"-{tree[0]}", None if tree[1] is None else -tree[1]))
    ),
    max_leaves=12,
)


@given(trees)
def test_it_agrees_with_fractions(tree: Tree) -> None:
    expression, reference = tree
    if reference is None:
        with pytest.raises(ToolError, match="zero"):
            calculate(expression)
        return
    answer = calculate(expression)
    shown = Fraction(answer["result"])
    if answer["exact"]:
        assert shown == reference
    else:
        assert abs(shown - reference) <= abs(reference) * Fraction(1, 10**29)


@given(st.integers(-(10**6), 10**6), st.integers(0, 200))
def test_powers_agree_with_integers(base: int, exponent: int) -> None:
    assert result(f"({base})**{exponent}") == str(base**exponent)


@given(st.fractions(min_value=0, max_value=10**9, max_denominator=10**9))
def test_the_square_root_squared_is_the_number(number: Fraction) -> None:
    root = Fraction(calculate(f"sqrt({number})")["result"])
    assert abs(root**2 - number) <= number * Fraction(1, 10**28)


def test_the_tool_answers_with_a_structure() -> None:
    tool = calc()
    assert (tool.name, tool.effect, tool.trust) == ("calc", "pure", "trusted")
    assert tool.call({"expression": "6 * 7"}, "run:1.1") == {
        "expression": "6 * 7",
        "result": "42",
        "exact": True,
    }
    with pytest.raises(ToolError):
        tool.call({"expression": "six"}, "run:1.2")
