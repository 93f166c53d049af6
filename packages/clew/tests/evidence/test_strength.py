"""Answers that say more surely, of more, for a reason or of another than their passage."""

import pytest

from clew.evidence.strength import overstated
from clew.evidence.subjects import reassigned

FERRY = "Ferries may be late in fog. The council could buy a second ferry next year."
INN = "The inn serves trout. Dogs are not allowed in the garden. Rooms are cleaned at noon."
WOLF = "Some wolves hunt alone. Hunters shot nine wolves in March. The snow was deep then."
TWINS = "Ada Holm runs the bakery in Ness. Bea Lund mends old clocks in Tarn, and she teaches."


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("The council will buy a second ferry next year", FERRY),
        ("The council buys a second ferry", FERRY),
        ("Dogs run in the garden", INN),
        ("The inn always serves trout", INN),
        ("All rooms are cleaned at noon", INN),
        ("Every wolf hunts alone", WOLF),
        ("Hunters shot nine wolves because the snow was deep", WOLF),
        ("Nine wolves were shot owing to deep snow", WOLF),
        ("Le loup mange toujours la nuit", "Le loup mange la nuit."),
        ("Der Zug hält immer in Ulm", "Der Zug hält in Ulm."),
        ("Il museo apre tutti i giorni", "Il museo apre il sabato."),
    ],
)
def test_what_is_said_too_strongly(claim: str, passage: str) -> None:
    assert overstated(claim, [passage])


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("The council might buy a second ferry next year", FERRY),
        ("Dogs are not allowed in the garden", INN),
        ("The inn serves trout", INN),
        ("All in all, nine wolves were shot", WOLF),
        ("Nine of them all were shot", WOLF),
        ("Hunters shot nine wolves in March", WOLF),
        ("The wall fell because of the flood", "The flood caused the fall of the wall."),
        ("Dogs must stay outside", "Dogs are not allowed inside."),
        ("The gate opens at noon", "The gate does not open until noon."),
    ],
)
def test_what_is_said_as_strongly(claim: str, passage: str) -> None:
    assert overstated(claim, [passage]) == ""


@pytest.mark.parametrize(
    "claim",
    [
        "Ada Holm mends old clocks in Tarn",
        "Bea Lund runs the bakery in Ness",
        "Bea Lund runs the bakery, while Ada Holm mends old clocks",
    ],
)
def test_what_is_said_of_another(claim: str) -> None:
    assert "another" in reassigned(claim, [TWINS])


def test_a_thing_that_does_what_another_does() -> None:
    text = "The goat eats thistles on the northern slope. The mule sleeps in a shed."
    assert reassigned("Mules eat thistles on the northern slope", [text])
    assert reassigned("Goats eat thistles on the northern slope", [text]) == ""


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("Ada Holm runs the bakery", TWINS),
        ("Lund mends old clocks in Tarn", TWINS),
        ("Ada Holm opened it in May", "It was opened in May by the mayor, Ada Holm."),
        ("Readers look at https://a.example/b", "Readers come. Catalogue: https://a.example/b"),
        ("Nobody knows", "Ada Holm runs it."),
        ("Stones were sold to many builders abroad", "Nothing of this."),
    ],
)
def test_what_is_said_of_the_same(claim: str, passage: str) -> None:
    assert reassigned(claim, [passage]) == ""
