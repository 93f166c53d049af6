# tools: put, reserve
from dataclasses import dataclass, field

@dataclass
class Trip:
    seats: list = field(default_factory=list)
    open: bool = True

trip = Trip()
for seat in (3, 1, 2):
    reserve(seat=seat)
    trip.seats.append(seat)
trip.open = False
put(name="trip", value={"seats": sorted(trip.seats), "open": trip.open})
print(trip.seats, trip.open)
