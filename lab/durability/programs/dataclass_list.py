# tools: page, send
from dataclasses import dataclass

@dataclass
class Place:
    name: str
    words: int

places = []
for name in ["harbour", "mill"]:
    places.append(Place(name, page(name=name)["words"]))
places.sort(key=lambda place: -place.words)
for place in places:
    send(to=place.name, text=f"{place.words} words")
print([place.name for place in places])
