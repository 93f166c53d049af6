"""How each task of M3ToolEval is solved: by programs, and by calls of tools.

Both ways are written by us, both know what their tools return once they saw it, and both reckon in
the head what a model does there (which of three numbers is greatest, one sum): that favours calls,
since a program would do it anyway. What a task says in words stands here in numbers.
"""

from collections.abc import Callable
from typing import Any, Final, TypeAlias

from benchmarks.code import trips, website
from benchmarks.code.solution import Calls, Solution, Wide, call

# Trade

Offer: TypeAlias = tuple[float, float, float]
"""An amount, a conversion rate, a tariff in per cent."""

TRADE: Final[dict[str, tuple[str, list[Offer]]]] = {
    "estimate_final_value": ("max", [(150, 0, 7.5)]),
    "interstellar_trade_transaction": ("max", [(5_000, 1.5, 8)]),
    "taxed_commodity_export": ("max", [(24_000, 2.0, 5)]),
    "best_trade_route_selection": ("min", [(500, 1.3, 7), (500, 1.4, 9), (500, 1.2, 4)]),
    "most_profitable_conversion_rate": ("max", [(300_000, rate, 10) for rate in (2.5, 2.3, 2.7)]),
    "bulk_trade_quantity_discount": ("max", [(3_562_500, 1.8, 12)]),
    "comparative_profit_analysis": ("max", [(30_000, 1.6, 6), (40_000, 1.8, 5)]),
    "fluctuating_conversion_rates_impact": ("list", [
        (20_000, 1.7, 7), (30_000, 1.5, 7), (40_000, 1.6, 7)]),
    "optimal_trade_route_multiple_commodities": ("max", [
        (30_000, 1.7, 8), (75_000, 1.5, 5), (40_000, 2.0, 10)]),
    "seasonal_price_fluctuation_impact": ("list", [
        (40_000, 1.8, 7), (50_000, 1.8, 7), (36_000, 1.8, 7)]),
    "balancing_multiple_trade_offers": ("less", [(75_000, 1.6, 6), (33_000, 1.5, 4)]),
    "dynamic_pricing_strategy": ("list", [
        (39_600, 1.8, 6), (30_000, 1.8, 6), (22_800, 1.8, 6)]),
    "quantity_tariff_tradeoff": ("max", [(80_000, 1.7, 10), (60_000, 1.7, 5)]),
    "optimizing_bulk_purchase_discounts": ("max", [
        (142_500, 1.6, 7), (149_625, 1.6, 7), (171_000, 1.6, 7), (179_550, 1.6, 7)]),
    "currency_fluctuation_hedging": ("min", [(125_000, rate, 8) for rate in (1.5, 1.65, 1.8)]),
    "variable_tariff_profit_maximization": ("max", [
        (120_000, 1.7, 6), (105_000, 1.7, 4), (135_000, 1.7, 7)]),
    "long_term_vs_short_term_trade_decisions": ("list", [(120_000, 1.8, 5), (132_000, 1.6, 7)]),
}  # fmt: skip

LAST: Final[dict[str, tuple[str, Callable[[list[Any]], Any]]]] = {
    "max": ("max(values)", max),
    "min": ("min(values)", min),
    "list": ("values", list),
    "less": ("values[0] - values[1]", lambda values: values[0] - values[1]),
}


def trade(name: str) -> Solution:
    """Convert, tax and add each offer."""
    last, offers = TRADE[name]
    program = f"""\
values = []
for amount, rate, percent in {offers!r}:
    price = convert_currency(base_price=amount, conversion_rate=rate) if rate else amount
    tariff = calculate_tariff(price=price, tariff_rate=percent)
    values.append(estimate_final_value(price=price, tariff=tariff))
print({LAST[last][0]})
"""

    def calls(wide: Wide) -> Calls:
        prices: list[Any] = [offer[0] for offer in offers]
        if offers[0][1]:
            prices = yield [
                call("convert_currency", base_price=amount, conversion_rate=rate)
                for amount, rate, _ in offers
            ]
        tariffs = yield [
            call("calculate_tariff", price=price, tariff_rate=offer[2])
            for price, offer in zip(prices, offers, strict=True)
        ]
        values = yield [
            call("estimate_final_value", price=price, tariff=tariff)
            for price, tariff in zip(prices, tariffs, strict=True)
        ]
        return LAST[last][1](values)

    return Solution((program,), calls)


# Messages

MESSAGES: Final[dict[str, tuple[list[tuple[str, int]], str, str]]] = {
    "full_alien_message_decoding": ([("7a686b7a686d666d686b", 5)], "hrc", "the one"),
    "shortest_caesar_decoded_message": (
        [(one, 4) for one in ("636261", "686766", "6365646362", "6867666865")], "hrcl", "least"),
    "longest_decoded_string": (
        [("4a656d", 2), ("4b6867", 3), ("4c696f", 5)], "hrcl", "least"),
    "specific_decoded_character": ([("576562546563686e6f6c6f6779", 7)], "hrc", "the one"),
    "hex_caesar_combined_decoding": ([("4d4f5252", 2)], "hc", "the one"),
    "multi_step_decoding_challenge": ([("726f77746e6153794d", 3)], "hrc", "the one"),
    "length_based_decoding_puzzle": (
        [(one, 6) for one in ("646566", "6a6b6c6d", "68696a6b6c")], "hc", "five long"),
    "maximum_value_decoding": (
        [(one, 4) for one in ("313233", "343536", "373839")], "hcr", "greatest"),
}  # fmt: skip

STAGES: Final = {
    "h": ("convert_hex_to_ascii", "hex_string"),
    "r": ("reverse_string", "s"),
    "c": ("caesar_decode", "message"),
    "l": ("string_length", "s"),
}
PICKED: Final[dict[str, tuple[str, Callable[[list[Any]], Any]]]] = {
    "the one": ("repr(values[0])", lambda values: values[0]),
    "least": ("min(values)", min),
    "five long": (
        "repr([one for one in values if len(one) == 5][0])",
        lambda values: next(one for one in values if len(one) == 5),
    ),
    "greatest": ("max(int(one) for one in values)", lambda values: max(map(int, values))),
}


def message(name: str) -> Solution:
    """Send each text through the stages."""
    texts, stages, pick = MESSAGES[name]
    lines = ["values = []", f"for value, shift in {texts!r}:"]
    for stage in stages:
        function, argument = STAGES[stage]
        more = ", shift=shift" if stage == "c" else ""
        lines.append(f"    value = {function}({argument}=value{more})")
    lines += ["    values.append(value)", f"print({PICKED[pick][0]})"]

    def calls(wide: Wide) -> Calls:
        values: list[Any] = [text for text, _ in texts]
        for stage in stages:
            function, argument = STAGES[stage]
            values = yield [
                call(function, **{argument: value}, **({"shift": shift} if stage == "c" else {}))
                for value, (_, shift) in zip(values, texts, strict=True)
            ]
        return PICKED[pick][1](values)

    return Solution(("\n".join(lines) + "\n",), calls)


# DNA: each task is a chain of single calls, but for one

CHAINS: Final[dict[str, tuple[str, list[str], Callable[[Any], Any]]]] = {
    "validate_transcribe_translate": (
        "AGCTTX", ["is_valid_dna_sequence"], lambda valid: valid or "Invalid DNA sequence"),
    "reverse_transcribe_count_max_nucleotide": (
        "AUGCUUUUC", ["reverse_transcribe_mrna_to_dna", "count_nucleotides"],
        lambda counts: max(counts, key=lambda one: counts[one])),
    "transcribe_translate_amino_acid_length": (
        "AGCTAGCGTA", ["transcribe_dna_to_mrna", "translate_mrna_to_amino_acid"],
        lambda acids: len(acids.split("-"))),
    "reverse_transcribe_palindrome_check": (
        "AUGCGU", ["reverse_transcribe_mrna_to_dna", "count_nucleotides"], dict),
    "transcribe_translate_find_amino_acid": (
        "AGCTAGCGTA", ["transcribe_dna_to_mrna", "translate_mrna_to_amino_acid"],
        lambda acids: "Methionine" in acids),
    "find_most_common_nucleotide_combined_sequence": (
        "AGCTCCGATTAG", ["count_nucleotides"],
        lambda counts: max(counts.items(), key=lambda one: one[1])),
}  # fmt: skip


def dna(name: str) -> Solution:
    """A chain, or one of the two others."""
    if name == "find_most_common_nucleotide_and_transcribe":
        return Solution((COMMON,), _common)
    if name == "validate_find_longest_valid_sequence":
        return Solution((LONGEST,), _longest)
    text, chain, last = CHAINS[name]
    lines = [f"value = {text!r}"]
    for function in chain:
        argument = "mrna_sequence" if "mrna_to" in function else "dna_sequence"
        lines.append(f"value = {function}({argument}=value)")

    def calls(wide: Wide) -> Calls:
        value: Any = text
        for function in chain:
            argument = "mrna_sequence" if "mrna_to" in function else "dna_sequence"
            (value,) = yield [call(function, **{argument: value})]
        return last(value)

    def answer(printed: str) -> Any:
        return last(eval(printed, {}))

    return Solution(("\n".join([*lines, "print(repr(value))"]) + "\n",), calls, answer)


COMMON: Final = """\
counts = count_nucleotides(dna_sequence="AGCTAGCCGATGCA")
best = max(counts, key=lambda one: counts[one])
print(repr(transcribe_dna_to_mrna(dna_sequence=best * 3)))
"""
SEQUENCES: Final = ("AGCTAG", "XYZABC", "GTCAGT")
LONGEST: Final = f"""\
valid = [one for one in {SEQUENCES!r} if is_valid_dna_sequence(dna_sequence=one)]
print(repr(max(valid, key=lambda one: len(one))))
"""


def _common(wide: Wide) -> Calls:
    (counts,) = yield [call("count_nucleotides", dna_sequence="AGCTAGCCGATGCA")]
    best = max(counts, key=lambda one: counts[one])
    (transcribed,) = yield [call("transcribe_dna_to_mrna", dna_sequence=best * 3)]
    return transcribed


def _longest(wide: Wide) -> Calls:
    valid = yield [call("is_valid_dna_sequence", dna_sequence=one) for one in SEQUENCES]
    return max((one for one, good in zip(SEQUENCES, valid, strict=True) if good), key=len)


# Travel


def travel(name: str) -> Solution:
    """A flight and a hotel for each leg, and what they cost."""
    legs = trips.TRIPS[name]

    def calls(wide: Wide) -> Calls:
        flights = [
            call("find_flights", from_location=leg.start, to_location=leg.to, date=leg.day)
            for leg in legs
        ]
        hotels = [call("book_hotel", location=leg.to, preferences=list(leg.wishes)) for leg in legs]
        listed = yield [*flights, *hotels]
        half = len(legs)
        prices = yield [
            call(
                "budget_calculator",
                flight_price=min(flight["price"] for flight in listed[index]),
                hotel_price_per_night=leg.chosen(listed[half + index])["price_per_night"],
                num_nights=leg.nights,
            )
            for index, leg in enumerate(legs)
        ]
        return sum(prices)

    return Solution((trips.program(legs),), calls)


def solution(family: str, name: str, asked: str, right: Any) -> Solution:
    """How a task is solved."""
    match family:
        case "trade_calculator":
            return trade(name)
        case "message_decoder":
            return message(name)
        case "travel_itinerary_planning":
            return travel(name)
        case "web_browsing":
            return website.web(name, asked, right)
        case _:
            return dna(name)
