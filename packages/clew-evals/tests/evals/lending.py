"""A lending library's database for tests: functions over data, and the same as τ-bench has them."""

import json
from typing import Any

from clew import ToolError

DATA: dict[str, Any] = {
    "books": {
        "b1": {"title": "Tides", "lent_to": None},
        "b2": {"title": "Locks", "lent_to": "ada"},
        "b3": {"title": "Weirs", "lent_to": None},
    },
    "members": {
        "ada": {"name": "Ada", "email": "ada@old.example", "fines": 0},
        "ben": {"fines": 3},
    },
    "letters": [],
}


def load() -> dict[str, Any]:
    """The data anew."""
    results: dict[str, Any] = json.loads(json.dumps(DATA))
    return results


def get_member(data: dict[str, Any], member: str) -> dict[str, Any]:
    """Look a member up.

    Args:
        member: Their name in lower case.
    """
    if member not in data["members"]:
        message = f"there is no member {member}"
        raise ToolError(message)
    books = [number for number, book in data["books"].items() if book["lent_to"] == member]
    return {**data["members"][member], "books": books}


def lend_book(data: dict[str, Any], book: str, member: str) -> str:
    """Lend a book to a member."""
    if data["books"][book]["lent_to"]:
        return "Error: it is lent already"
    data["books"][book]["lent_to"] = member
    return f"lent {data['books'][book]['title']} to {member}"


def set_email(data: dict[str, Any], member: str, email: str) -> dict[str, Any]:
    """Change a member's address."""
    data["members"][member]["email"] = email
    results: dict[str, Any] = data["members"][member]
    return results


def write_letter(data: dict[str, Any], member: str, text: str = "Hello") -> int:
    """Write to a member; gives the number of letters written."""
    data["letters"].append({"text": text})
    data["letters"][-1]["to"] = data["members"][member]["name"]
    return len(data["letters"])


def number(data: dict[str, Any]) -> int:
    """Gives another number each time."""
    COUNT.append(1)
    return len(COUNT)


COUNT: list[int] = []

TOOLS = [get_member, lend_book, set_email, write_letter]


class ReturnBook:
    """A tool as τ-bench writes them."""

    @staticmethod
    def invoke(data: dict[str, Any], book: str) -> str:
        if not data["books"][book]["lent_to"]:
            return "Error: it is here"
        data["books"][book]["lent_to"] = None
        return json.dumps(data["books"][book])

    @staticmethod
    def get_info() -> dict[str, Any]:
        return {
            "type": "function",
            "function": {
                "name": "return_book",
                "description": "Take a book back.",
                "parameters": {
                    "type": "object",
                    "properties": {"book": {"type": "string", "description": "Its number."}},
                    "required": ["book"],
                },
            },
        }


ALL_TOOLS = [ReturnBook, get_member]


class Action:
    """An action as τ-bench writes it: an object with fields."""

    def __init__(self, name: str, kwargs: dict[str, Any]) -> None:
        self.name, self.kwargs = name, kwargs


class Task:
    """A task, likewise."""

    def __init__(self, instruction: str, actions: list[Action], outputs: list[str]) -> None:
        self.instruction, self.actions, self.outputs = instruction, actions, outputs
        self.user_id, self.annotator = "ada", "0"


TASKS_TEST = [
    Task("Bring book b2 back.", [Action("return_book", {"book": "b2"})], ["Locks"]),
    Task("Ask for nothing.", [], []),
]
