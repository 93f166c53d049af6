"""The journeys of M3ToolEval's tasks, in numbers, and the program that reckons one."""

from collections.abc import Sequence
from typing import Any, Final, NamedTuple


class Leg(NamedTuple):
    """A flight and some nights; hotels are chosen by "price", by "rating", or as they come.

    `without` is what the hotel must not have.
    """

    start: str
    to: str
    day: str
    wishes: tuple[str, ...]
    nights: int
    by: str = "price"
    without: str = ""

    def chosen(self, hotels: Sequence[Any]) -> Any:
        """The hotel."""
        fit = [one for one in hotels if self.without not in one["preferences"]]
        if self.by == "first":
            return fit[0]
        if self.by == "rating":
            return max(fit, key=lambda one: one["rating"])
        return min(fit, key=lambda one: one["price_per_night"])


TRIPS: Final[dict[str, list[Leg]]] = {
    "plan_trip_to_0": [Leg("E", "A", "2023-12-25", ("wifi", "pool"), 5, "first")],
    "cheapest_new_york_trip": [Leg("E", "B", "2023-11-10", (), 3)],
    "luxury_tokyo_trip": [Leg("E", "C", "2023-10-05", (), 7, "rating")],
    "budget_trip_to_paris": [Leg("E", "A", "2023-12-25", (), 4)],
    "new_york_trip_with_specific_preferences": [
        Leg("E", "B", "2023-11-10", ("gym",), 3, without="pool")],
    "london_business_trip": [Leg("E", "D", "2023-08-15", ("wifi",), 4)],
    "last_minute_tokyo_trip": [Leg("E", "C", "2023-12-01", (), 3)],
    "new_york_holiday_season": [Leg("E", "B", "2023-12-15", ("gym", "pool"), 7)],
    "multi_city_business_trip": [
        Leg("E", "B", "2023-11-10", ("wifi",), 2), Leg("B", "C", "2023-11-13", ("wifi",), 3)],
    "leisure_multi_city_trip": [
        Leg("E", "A", "2023-12-25", (), 3), Leg("A", "D", "2023-12-28", (), 2)],
    "three_city_european_tour": [
        Leg("E", "A", "2023-12-25", ("wifi",), 3), Leg("A", "D", "2023-12-29", ("wifi",), 4),
        Leg("D", "C", "2024-01-02", ("wifi",), 3)],
    "adventure_trip": [
        Leg("E", "C", "2023-12-01", ("pool",), 2), Leg("C", "B", "2023-12-03", (), 3),
        Leg("B", "D", "2023-12-06", ("gym",), 2)],
    "cultural_exploration_tour": [
        Leg("E", "A", "2023-12-25", ("wifi",), 4), Leg("A", "B", "2023-12-29", ("wifi",), 2),
        Leg("B", "D", "2024-01-01", ("wifi",), 3, "rating")],
    "leisure_and_business_combo": [
        Leg("E", "D", "2023-08-15", ("wifi", "gym"), 3), Leg("D", "A", "2023-08-18", ("pool",), 2),
        Leg("A", "C", "2023-08-20", ("wifi", "gym"), 2)],
    "grand_tour_vacation": [
        Leg("E", "C", "2023-12-01", (), 2, "rating"), Leg("C", "D", "2023-12-03", (), 3, "rating"),
        Leg("D", "B", "2023-12-06", (), 2, "rating"), Leg("B", "E", "2023-12-08", (), 3, "rating")],
}  # fmt: skip

PROGRAM: Final = """\
total = 0
for start, to, day, wishes, nights, by, without in {legs!r}:
    flights = find_flights(from_location=start, to_location=to, date=day)
    hotels = book_hotel(location=to, preferences=list(wishes))
    hotels = [one for one in hotels if without not in one["preferences"]]
    if by == "price":
        hotels.sort(key=lambda one: one["price_per_night"])
    elif by == "rating":
        hotels.sort(key=lambda one: -one["rating"])
    total += budget_calculator(
        flight_price=min(one["price"] for one in flights),
        hotel_price_per_night=hotels[0]["price_per_night"],
        num_nights=nights,
    )
print(total)
"""


def program(legs: Sequence[Leg]) -> str:
    """The program of a journey."""
    return PROGRAM.format(legs=[tuple(leg) for leg in legs])
