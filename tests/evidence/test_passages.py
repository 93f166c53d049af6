"""What a passage bears out, and what it does not."""

import pytest

from clew.evidence import facts
from clew.evidence.passages import Passage


@pytest.mark.parametrize(
    ("passage", "claim", "found"),
    [
        ("1,187 patients", "about 1,200 patients", True),
        ("1,187 patients", "1,200 patients", False),
        ("1,187 patients", "roughly 1,300 patients", False),
        ("about 1,200 patients", "1,187 patients", False),
        ("1,187,432 people", "1.2 million people", True),
        ("1,187,432 people", "1.3 million people", False),
        ("1,187 men", "more than 1,000 men", True),
        ("1,187 men", "nearly 1,200 men", True),
        ("1,187 men", "nearly 1,100 men", False),
        ("1,187 men", "some 1,190 men", True),
        ("8,848.86 m", "8,849 m", True),
        ("8.849 km", "5.5 miles", True),
        ("8.849 km", "5.4 miles", False),
        ("385 ha", "3.85 km²", True),
        ("385 ha", "3.84 km²", False),
        ("5 kg", "5 lb", False),
        ("height 1187", "1187 m", True),
        ("height 1187", "about 1190 m", False),
        ("cost 94.6 million euros", "about 95 million", True),
        ("a rate of 11.8%", "12 percent", True),
        ("11.8 kg", "12 percent", False),
        ("a loss of 3.2", "3,200 men", False),
        ("two sons", "2 sons", True),
        ("72 terabits a second", "two of them", False),
        ("the 3rd tower", "the third tower", True),
        ("1.250 Meter", "1.25 km", True),
        ("In 1868 it rose. On 14 September it opened.", "14 September 1868", True),
        ("In 1868 it rose. On 14 September it opened.", "15 September 1868", False),
        ("In 1868 it rose. On 14 September it opened.", "14 September 1869", False),
        ("September 1868", "14 September 1868", False),
        ("14 September 1868", "September 1868", True),
        ("May was cold", "in May", True),
        ("April was cold", "in May", False),
        ("on 5/1/2020", "January 5, 2020", True),
        ("from 1914 to 1918", "1914–18", True),
        ("from 1914 on", "1914–18", False),
        ("in the 1850s", "in the 1850s", True),
        ("in 1857", "in the 1850s", True),
        ("at 9:00 in 1861", "in the 1850s", False),
        ("at 2:30 pm", "at 14:30", True),
        ("at 2:30 pm on 5 May 1850", "at 15:30", False),
        ("died 44 BC", "in 44 BC", True),
        ("died in 44", "in 44 BC", False),
        ("J.R.R. Tolkien", "by J. R. R. Tolkien", True),
        ("John Ronald Tolkien", "by J.R. Tolkien", True),
        ("J. Tolkien", "by John Tolkien", True),
        ("Peter Tolkien", "by J. Tolkien", False),
        ("Tolkien alone", "by J. Tolkien", False),
        ("Mary Wollstonecraft Shelley", "by Mary Shelley", True),
        ("Shelley, Mary", "by Mary Shelley", True),
        ("Mary met Percy, who knew the old Shelley", "by Mary Shelley", False),
        ("Shelley", "by Mary Shelley", False),
        ("the light house of Skarn", "the Skarn Light House", True),
        ("the tower", "the Tower", True),
        ("Müller", "by Mueller", True),
        ("Norwegian", "in Norway", True),
        ("Oosterveld was Dutch", "by the Dutchman Oosterveld", True),
        ("Oosterveld was Dutch", "by the Norwegian Oosterveld", False),
        ("the United Nations", "the UN", True),
        ("the Bank of North", "the BN", True),
        ("the UN", "the United Nations", True),
        ("the UN", "the Union Notes Board", False),
        ("United Kingdom", "the UN", False),
        ("the United", "the UN", False),
        ("the Ulm", "the UN", False),
        ("nothing here", "by Bartholomew", False),
        ("He wrote: a light that never sleeps, ever", "“light … never sleeps”", True),
        ("He wrote: a light that never sleeps, ever", "“light … sleeps never”", False),
        ("see https://x.org/a#b", "http://www.x.org/a/", True),
        ("see https://x.org/a", "https://x.org", True),
        ("x.org/a", "https://x.org/a", True),
        ("see https://x.org/a", "https://x.org/b", False),
        ("", "https://x.org/b", False),
    ],
)
def test_find(passage: str, claim: str, found: bool) -> None:
    wanted = facts(f"It was {claim}")
    assert wanted
    places = [Passage(passage).find(fact) for fact in wanted]
    assert all(place is not None for place in places) is found
    for place in filter(None, places):
        assert 0 <= place[0] < place[1] <= len(passage)
