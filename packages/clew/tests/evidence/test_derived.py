"""Values that an answer computes from what it cites, and those that it only says wrongly."""

import pytest

from clew import Agent, MemoryStore, Observation, read, run, tool
from clew.core.contents import Evidence
from clew.evidence import Audit, audit
from clew.testing.models import ScriptedModel, act, say

pytestmark = pytest.mark.anyio


async def audited(passage: str, question: str, answer: str) -> Audit:
    """The audit of an answer that cites a passage which was searched for."""

    @tool(effect="read")
    def search(query: str) -> Observation:
        """Search the notes."""
        piece = Evidence("doc_1", passage, 0.9, "")
        return Observation(content={"results": [{"doc_id": "doc_1"}]}, evidence=(piece,))

    model, store = ScriptedModel([act("search", query="it"), say("?")]), MemoryStore()
    result = await run(Agent(model=model, tools=[search]), question, store=store)
    return audit(f"{answer} [doc_1].", await read(result.run_id, store=store))


HALL = "The hall seats 480 people, of whom 130 sit in the gallery. It was finished in 1911."
BUS = "The bus leaves Varde at 8:35 and takes 50 minutes to Holm. A ticket costs 12 euros."
ROOF = "The roof measures 84 m². One bucket of tar costs 30 euros and covers 6 m² per litre."
LIFE = "Edna Pryce was born in 1874. She emigrated in 1902 and died on 4 May 1951."
FARM = (
    "The farm keeps 40 goats and 24 sheep. It sold 16 animals in 2019, and 20 percent were goats."
)
TRAM = "The track is 5 miles long. The old line, opened in 1899, closed 33 years later."
CLUB = (
    "Adults pay 14 euros, children 6 euros. Members get 25 percent off. A guide costs 9 euros more."
)
LAW = "Articles 20 to 27 are repealed. The rest came into force on 1 March 2015, fees a year later."
FILM = "The first part lasts 1 hour 40 minutes, the second 95 minutes. Twice as long is the third."
POOL = "The old pool held 300,000 litres, the new one 450,000 litres. It took half a day to fill."


@pytest.mark.parametrize(
    ("passage", "question", "answer"),
    [
        (HALL, "How many sit below?", "350 people sit below the gallery"),
        (HALL, "How old was the hall in 1961?", "It was 50 years old in 1961"),
        (BUS, "When is it in Holm?", "It arrives at 9:25"),
        (BUS, "What do three tickets cost?", "Three tickets cost 36 euros"),
        (ROOF, "How much tar is needed?", "The roof needs 14 litres"),
        (LIFE, "How old was she when she left?", "She was 28 years old when she emigrated"),
        (LIFE, "How long did she live abroad?", "She lived there for 49 years"),
        (FARM, "How many animals are there together?", "There are 64 animals in total"),
        (FARM, "How many more goats than sheep?", "There are 16 more goats than sheep"),
        (TRAM, "How long is it?", "It is about 8 km long"),
        (TRAM, "When did it close?", "The line closed in 1932"),
        (CLUB, "What do two adults and a child pay?", "Together they pay 34 euros"),
        (CLUB, "What does a member pay for an 80 euro ticket?", "A member pays 60 euros"),
        (LAW, "Is article 23 repealed?", "Article 23 is repealed"),
        (LAW, "When did the fees come?", "The fees came into force on 1 March 2016"),
        (FILM, "How long are both?", "Both take 3 hours 15 minutes together"),
        (FILM, "How long is the third?", "The third lasts 190 minutes, twice the second"),
        (CLUB, "What do 2 adults and 3 children pay?", "Together they pay 46 euros"),
        (ROOF, "How far do 3 litres go?", "Three litres cover 18 m²"),
        ("Two ate, 3 slept, 4 sang.", "How many were there in total?", "There were 9 in total"),
        ("Adults pay 9 euros, the tour is 4 euros.", "For 3?", "They pay 39 euros for three"),
        ("The old mill lost 6 kg of 40 kg, then got 9 kg.", "And then?", "Later 43 kg were left"),
        ("The bus leaves at 8:10 and arrives at 9:00.", "How long?", "It takes 50 minutes"),
        ("It ran from 3 May 1950 to 10 May 1950.", "How long?", "It lasted 7 days"),
        (POOL, "How much more does it hold?", "It holds 150,000 litres more"),
        (POOL, "By what share is it larger?", "It is 50 percent larger"),
        (POOL, "How long did it take?", "Filling it took 12 hours"),
    ],
)
async def test_what_follows_by_arithmetic_is_borne_out(
    passage: str, question: str, answer: str
) -> None:
    found = await audited(passage, question, answer)
    assert found.problems == ()


async def test_a_computed_value_says_where_it_comes_from() -> None:
    found = await audited(HALL, "How many sit below?", "350 people sit below the gallery")
    place = found.claims[0].facts[0].source
    assert place is not None
    assert (place.where, place.doc_id) == ("derived", "doc_1")
    assert HALL[place.offset : place.offset + place.length].startswith("480")


@pytest.mark.parametrize(
    ("passage", "question", "answer"),
    [
        (HALL, "How many sit below?", "340 people sit below the gallery"),
        (HALL, "How many seats?", "The hall seats 610 people"),
        (BUS, "When is it in Holm?", "It arrives at 9:20"),
        (BUS, "What do three tickets cost?", "Three tickets cost 38 euros"),
        (ROOF, "How much tar is needed?", "The roof needs 15 litres"),
        (LIFE, "How old was she when she left?", "She was 31 years old when she emigrated"),
        (FARM, "How many animals are there together?", "There are 66 animals in total"),
        (TRAM, "How long is it?", "It is 9 km long"),
        (TRAM, "When did it close?", "The line closed in 1937"),
        (CLUB, "What do two adults and a child pay?", "Together they pay 35 euros"),
        (LAW, "Is article 29 repealed?", "Article 29 is repealed"),
        (LAW, "When did the fees come?", "The fees came into force on 1 March 2018"),
        (FILM, "How long are both?", "Both take 3 hours 25 minutes together"),
        (POOL, "By what share is it larger?", "It is 55 percent larger"),
    ],
)
async def test_a_wrong_result_is_not(passage: str, question: str, answer: str) -> None:
    found = await audited(passage, question, answer)
    assert not found.ok


async def test_a_number_of_three_hundred_digits_is_no_year() -> None:
    far = "9" * 300
    found = await audited(f"Begun on 1 May 1950, it lasts {far} years.", "When?", "On 2 May 1951")
    assert not found.ok
