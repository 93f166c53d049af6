"""Answers made of the right pieces that say something else than the passage they cite."""

from collections.abc import Sequence

import pytest

from clew import Agent, ConfigError, MemoryStore, Observation, read, run, tool
from clew.core.contents import Evidence
from clew.evidence import CANNOT_ANSWER, Grounded
from clew.testing.models import ScriptedModel, act, say

pytestmark = pytest.mark.anyio


async def audited(
    claim: str, passages: Sequence[str], check: Grounded | None = None
) -> tuple[bool, str]:
    """A run that finds the passages and answers with the claim: whether it passes, and why not."""
    pieces = tuple(
        Evidence(f"doc_{number}", text, 0.9, "") for number, text in enumerate(passages, start=1)
    )

    @tool(effect="read")
    def search(query: str) -> Observation:
        """Search the notes."""
        found = [{"doc_id": piece.doc_id} for piece in pieces]
        return Observation(content={"results": found}, evidence=pieces)

    cited = " ".join(f"[{piece.doc_id}]" for piece in pieces)
    model = ScriptedModel([act("search", query="it"), *[say(f"{claim} {cited}.")] * 5])
    used, store = check or Grounded(), MemoryStore()
    agent = Agent(model=model, tools=[search], checks=[used], fallback=CANNOT_ANSWER)
    result = await run(agent, "Is it so?", store=store)
    found = used.audit(f"{claim} {cited}.", await read(result.run_id, store=store))
    assert found.ok is (result.answer != CANNOT_ANSWER)
    return found.ok, " ".join(found.problems)


SHIP = "When the ferry sank, Captain Reyes was on board."
TOWER = "Ottilie Brandt built the tower of Skarn in 1868, and it burned in 1890."
MILL = "Brandt built the tower in 1868, and the mill of Skarn burned in 1890."
FINAL = "In the final of 1987 Sweden beat Norway."


@pytest.mark.parametrize(
    ("claim", "passage", "why"),
    [
        ("Captain Reyes was not on board", SHIP, "denies what the passage says"),
        ("Captain Reyes wasn't on board", SHIP, "denies what the passage says"),
        ("Captain Reyes was on board", "Captain Reyes was not on board.", "the passage denies"),
        ("Reyes never smoked", "Reyes smoked a pipe.", "denies"),
        ("Reyes failed to reach the shore", "Reyes did reach the shore.", "denies"),
        ("Prices rose in Skarn", "Prices fell in Skarn.", "'rose' where the passage says 'fell'"),
        ("The hall opens after lunch", "The hall opens before lunch.", "'after'"),
        ("Brandt sold the tower of Skarn", TOWER, "'sold' where the passage says 'built'"),
        ("Norway beat Sweden", FINAL, "turns round"),
        ("Sweden was beaten by Norway", FINAL, "turns round"),
        ("All members may vote", "All members except guests may vote.", "exception"),
        ("All birds can fly", "Some birds can fly.", "'all' where the passage says 'some'"),
        ("Only Brandt built the tower", TOWER, "says 'Only', which the passage does not"),
        ("The door is red", "The door is green.", "'red' where the passage says 'green'"),
        ("The tower was built in 1890", MILL, "1868"),
        ("It was built in 1890", "It was built in 1868. It burned down in 1890.", "1868"),
        ("7 men and 12 women came", "12 men and 7 women came.", "says '12'"),
        ("It opens at 9:30", "It opens at 8:15. It closes at 9:30.", "'9:30' where the passage"),
        ("A single costs 9 euros", "A single costs 4 euros. Dogs pay 9 euros.", "4 euros"),
    ],
)  # fmt: skip
async def test_what_the_passage_says_otherwise_is_objected_to(
    claim: str, passage: str, why: str
) -> None:
    passes, problem = await audited(claim, [passage])
    assert not passes
    assert why in problem


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("Captain Reyes was on board", SHIP),
        ("Captain Reyes was not on board", "Captain Reyes was never on board."),
        (
            "No rain fell from 1961 to 1968",
            "Rain falls in March; from 1961 to 1968 there was none.",
        ),
        ("The work did not end", "The work continued, and did not begin to end."),
        ("Prices did not rise in Skarn", "Prices fell in Skarn."),
        ("The work finished in June", "The work began in May and ended in June."),
        ("No more than 40 came to Skarn", "40 came to Skarn."),
        ("Not only Brandt built the tower", TOWER),
        ("It costs only 5 euros", "It costs 5 euros."),
        ("40 of the guests came in all", "Of the guests 40 came, most of them late."),
        ("All members except guests may vote", "Except for guests, all members may vote."),
        ("Norway was beaten by Sweden", FINAL),
        ("Sweden beat Norway", FINAL),
        ("Norway and Sweden met", FINAL),
        ("The men of Brandt built the tower of Skarn", TOWER),
        ("The tower was built in 1868", TOWER),
        ("12 men came to Skarn", "Of the men 12 came to Skarn, with 7 women."),
        ("There were 7", "7 women and 12 men came."),
        ("Cats have red doors", "A green sea. Red cats. Doors for cats."),
        ("It closes at 9:30", "It opens at 8:15. It closes at 9:30."),
        ("The first train leaves at 6:15", "Trains leave at 6:15. On 20 June a train leaves late."),
        ("It is 90 m high", "It is 90 m high, 40 m wide and weighs 90 t."),
        ("Captain Reyes was on board", "Not long after, Captain Reyes was on board."),
        ("The red door is open", "On Monday the door is open."),
        ("The tower is 90 m high", "The tower is 40 m wide and, beyond walls, 90 m tall at best."),
        ("From 1868 to 1890 the mill stood", "The mill opened in 1868. It closed in 1890."),
        (
            "The tower burned in 1890",
            "In 1890, after rain and hard storms, the tower burned. The clock tower is of 1868.",
        ),
        ("Guests praised warm meals loudly", "Guests praised it."),
        ("Skarn, by the sea, has 40 doors", "By the sea lies Skarn, a town with 40 doors."),
        ("!", "Nothing."),
    ],
)
async def test_what_the_passage_says_in_other_words_is_left_alone(claim: str, passage: str) -> None:
    assert await audited(claim, [passage]) == (True, "")


async def test_one_passage_that_agrees_is_enough() -> None:
    claim = "Captain Reyes was on board"
    assert (await audited(claim, ["Captain Reyes was not on board.", SHIP, f"{claim}."]))[0]


async def test_a_long_passage_is_quoted_in_part() -> None:
    far = "Captain Reyes was not on board " + "of the ferry that sank in the bay " * 6
    _, problem = await audited("Captain Reyes was on board", [far])
    assert "…”" in problem
    assert len(problem) < 300


VALUES = [
    ("The plant made 0.412 TWh", "In 2020 the plant made 412 GWh.", True),
    ("The plant made 0.421 TWh", "In 2020 the plant made 412 GWh.", False),
    ("About a third of the members left", "33 % of the members left.", True),
    ("A quarter of the members left", "33 % of the members left.", False),
    ("Two-thirds of the members voted", "66.7 percent of the members voted.", True),
    ("The shop opens at half past nine", "The shop opens at 9:30.", True),
    ("The shop opens at half past 10", "The shop opens at 9:30.", False),
    ("The shop opens at quarter to ten in the evening", "The shop opens at 21:45.", True),
    ("The shop opens at quarter to ten in the morning", "The shop opens at 21:45.", False),
    ("The shop opens at noon", "The shop opens at 12:00.", True),
    ("The shop closes at midnight", "The shop closes at 24:00.", True),
    ("It is open on Mondays", "It is open on Monday.", True),
    ("It is open on Mondays", "It is open on Tuesday.", False),
    ("Visitors exceeded 400", "There were 412 visitors.", True),
    ("Visitors exceeded 500", "There were 412 visitors.", False),
    ("The strike lasted nearly three months", "The strike lasted 11 weeks.", True),
    ("The strike lasted nearly three months", "The strike lasted 20 days.", False),
]


@pytest.mark.parametrize(("claim", "passage", "borne_out"), VALUES)
async def test_values_are_one_in_other_units_and_words(
    claim: str, passage: str, borne_out: bool
) -> None:
    assert (await audited(claim, [passage]))[0] is borne_out


async def test_a_share_of_the_words_can_be_required() -> None:
    claim, passage = "The tower was a ruin for many years", "The tower lost its roof."
    assert (await audited(claim, [passage]))[0]
    strict = Grounded(min_overlap=0.5)
    assert repr(strict).endswith("citations='searched', scope='sentence', min_overlap=0.5)")
    passes, problem = await audited(claim, [passage], strict)
    assert not passes
    assert "only 25% of its words stand in what it cites" in problem
    assert (await audited("The tower lost its roof", [passage], strict))[0]
    assert (await audited("It was", [passage], strict))[0]
    with pytest.raises(ConfigError, match="a share of words lies between 0 and 1"):
        Grounded(min_overlap=2)


FLOUR = "Do not sift the flour. The flour must not be sieved until it is dry, as it would clump."
PIANO = "Clara Benn sold the piano to Otto Rau. It was tuned by her daughter Ida, who lives in Ulm."


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("No, sifting should be avoided", "Sifting is not advised."),
        ("The shop may be entered once the bell rings", "Do not enter until the bell rings."),
        ("Pupils can be sent home when they are feverish",
         "Pupils can't be sent home unless they are feverish."),
        ("No, wood can be stored without a permit",
         "Oil may be stored with a permit of the council. A permit is not required for wood."),
        ("Entry is allowed only from the north gate", "Entry is permitted from the north gate."),
        ("Ida Benn tuned the piano for her mother Clara", PIANO),
        ("Jon built the barn after his father had died", "The barn was built by his son Jon."),
        ("It was Jon's barn", "Jon built a barn."),
        ("Clara's house was the smaller of the two", "Clara had a smaller house than Otto."),
        ("Oui, les cartes ne sont pas des billets", "Les cartes ne sont pas des billets."),
        ("Quedan 12 mesas", "Las mesas son 12."),
        ("It is about 8 km away", "It is 5 miles away."),
    ],
)  # fmt: skip
async def test_what_is_only_reworded(claim: str, passage: str) -> None:
    assert (await audited(claim, [passage])) == (True, "")


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("Karl Benn tuned the piano", PIANO),
        ("Ida Rau Benn tuned the piano", PIANO),
        ("The rule is that flour should be sifted", "Sifting the flour should be avoided."),
        ("Only Clara may enter the hall", "Clara may enter the hall."),
    ],
)
async def test_what_is_more_than_reworded(claim: str, passage: str) -> None:
    assert not (await audited(claim, [passage]))[0]
