"""What is recognised in a text, and what is the same in another format."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.evidence import facts, normal, normalised


def told(text: str) -> list[str]:
    return [f"{fact.kind} {normal(fact)}" for fact in facts(text)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("1,234,567 and 1 234 567 and 1'234'567 and 1.234.567", ["number 1234567"] * 4),
        ("12,34,567", ["number 1234567"]),
        ("1,234.5 or 1.234,5", ["number 1234.5"] * 2),
        ("3.5 kg, 3,5 kg and 3500 g", ["number 3.5 kg"] * 3),
        ("1.2 km or 1,200 m", ["number 1200 m"] * 2),
        ("5 million, 5m people, $5m, 5 bn",
         ["number 5000000", "number 5 m", "number 5000000 usd",
          "number 5000000000"]),
        ("€5 million, 5 million euros, EUR 5m", ["number 5000000 eur"] * 3),
        ("37%, 37 percent, 37 per cent, 37 Prozent", ["number 37 %"] * 4),
        ("-5 °C and 10-12 kg", ["number -5 degC", "number 10", "number 12 kg"]),
        ("2.5 × 10^6 and 2.5e6", ["number 2500000"] * 2),
        ("3½ of 3 ¼, ¾ and 1/3 and 1/0",
         ["number 3.5", "number 3.25", "number 0.75", "number 1/3", "number 1"]),
        ("5 $6", ["number 5", "number 6 usd"]),
        (".5 l", ["number 0.5 l"]),
        ("twenty-one men, two hundred and five, three thousand",
         ["number 21", "number 205", "number 3000"]),
        ("a dozen", ["number 12"]),
        ("the 3rd and the fifth", ["number 3 th", "number 5 th"]),
        ("one of them, first, second and zero", []),
        ("one hundred", ["number 100"]),
        ("3D and 4x4", ["name 3d"]),
        ("7 lb, 14 tons, 3 pounds", ["number 3.17514659 kg", "number 14000 kg", "number 3 gbp"]),
        ("90 kilometres per hour, 90 km/h, 25 m/s", ["number 90 km/h"] * 3),
        ("10k and 10K", ["number 10000"] * 2),
        ("१२ and ３", ["number 12", "number 3"]),
        ("in 1818", ["date 1818"]),
        ("4,000 in 2100", ["number 4000", "date 2100"]),
        ("5 January 2020, January 5th, 2020, 2020-01-05, 5.1.2020, 5th of January 2020",
         ["date 2020-01-05"] * 5),
        ("5. Januar 2020, 5 janvier 2020, 5 de enero de 2020, 2020年1月5日",
         ["date 2020-01-05"] * 4),
        ("1月5日", ["date --01-05"]),
        ("1/5/2020", ["date 2020-05-01"]),
        ("1.5.97 and 1.5.12", ["date 1997-05-01", "date 2012-05-01"]),
        ("99.99.2020", ["number 99.99"]),
        ("May 2020, in May, 5 May", ["date 2020-05", "date --05", "date --05-05"]),
        ("5–7 May 2020", ["date 2020-05-07"]),
        ("2020-05", ["date 2020-05"]),
        ("44 BC, 0 BC", ["date 44 bc", "number 0", "name bc"]),
        ("the 1850s, the 19th century, the nineteenth century",
         ["date 1850s", "date 19th century", "date 19th century"]),
        ("the 2nd century BC", ["date 2th century bc"]),
        ("1914–18 and 1918–14", ["date 1914; 1918", "date 1918", "number 14"]),
        ("at 14:30, 2:30 pm and 9 a.m.", ["date 14:30", "date 14:30", "date 09:00"]),
        ("met Anna Lind", ["name anna lind"]),
        ("Anna Lind of the University of Oslo", ["name anna lind university oslo"]),
        ("by Dr. Anna Lind-Müller and Queen Ysolde II",
         ["name anna lind muller", "name ysolde ii"]),
        ("by J.R.R. Tolkien, by J. R. R. Tolkien", ["name j r r tolkien"] * 2),
        ("the U.S. Navy and NASA in the UK", ["name us navy", "name nasa", "name uk"]),
        ("The Norwegian house", ["name norway"]),
        ("The house. Construction began. Trams run. Water fell. People came.", []),
        ("Bolton kept it", ["name bolton"]),
        ("an iPhone by O’Brien's firm, l'Europe", ["name iphone", "name obrien", "name europe"]),
        ("Der Turm wurde von der Stadt und mit Anna Lind gebaut", ["name anna lind"]),
        ("I am", []),
        ('"Cold Iron", “a b … c d”, «x y», „z“ and 6" x 3"',
         ["quotation cold iron", "quotation a b … c d", "quotation x y", "quotation z",
          "number 6", "number 3"]),
        ("see https://www.example.org/a/?q=1#top. (http://example.org/b_(c)) me@x.org",
         ["link example.org/a/?q=1", "link example.org/b_(c)", "link me@x.org"]),
        ("see www.x.org, file:/a%20b.md", ["link x.org", "link a b.md"]),
        ("2. second item\n", []),
        ('the "12" at https:///', ["number 12"]),
        ("5 May 2020-05-07", ["date 2020-05-05", "number 5", "number 7"]),
        ("the Bay of", ["name bay"]),
        ("the Bay of the", ["name bay"]),
        ("the Bay of, Pigs", ["name bay", "name pigs"]),
        ("the Bay of the small", ["name bay"]),
        ("the Bay of the de", ["name bay"]),
        ("the Bay of the Pigs", ["name bay pigs"]),
        ("Scientists Anna Lind", ["name anna lind"]),
        ("by Anna B C D E F G H I J K L M", ["name anna b c d e f g h i j k l"]),
    ],
)  # fmt: skip
def test_facts_in_their_normal_form(text: str, found: list[str]) -> None:
    assert told(text) == found


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The bridge: 1,200 m.", "bridge 1.2 km"),
        ("Born on January 5, 2020!", "born on 5 Jan 2020"),
        ("MÜLLER’s theatre", "Mueller theater"),
        ("It is 37 percent", "it is 37%"),
        ("twenty-one", "21"),
        ("$5m", "5 million dollars"),
        ("an answer", "The Answer"),
        ("14:30", "2:30 pm"),
    ],
)
def test_answers_that_are_the_same(one: str, other: str) -> None:
    assert normalised(one) == normalised(other)


def test_answers_that_are_not_the_same() -> None:
    different = ["12; 500", "12 500", "5 kg", "5 m", "-5", "1818", "1818-01", "Anna", ""]
    assert len({normalised(text) for text in different}) == len(different)


TOKEN = (
    "1 2,5 1,234 12.5 .5 - 5 m km % $ € million k 10^3 x e6 ½ 1/3 January May of 5th 2020 BC s "
    "century 14:30 pm one and twenty hundred a the Anna Lind Dr. J. U.S. « » “ ” \" ' , . ; \n "
    "https://x.org/ www. [doc_1] about over nearly 2020-01-05 年 月 日 5– 1914–18 ＦＩＶＥ ² Ⅷ"
)
TOKENS = st.lists(st.sampled_from(TOKEN.split(" ")))
TEXTS = st.one_of(
    st.text(max_size=200),
    TOKENS.map("".join),
    TOKENS.map(" ".join),
    st.text("0123456789.,' -/", max_size=60),
)


@given(TEXTS)
def test_any_text_has_facts_in_order_and_a_normal_form(text: str) -> None:
    place = 0
    for fact in facts(text):
        assert text[fact.start : fact.end] == fact.text
        assert fact.start >= place
        assert normal(fact)
        place = fact.end


@given(TEXTS)
def test_normalising_twice_changes_nothing(text: str) -> None:
    once = normalised(text)
    assert normalised(once) == once
