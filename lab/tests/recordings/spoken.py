"""Replies made up for this project, in the shapes of the recorded text formats."""

from typing import Any

Record = dict[str, Any]


def turn(raw: str, thought: str | None, *actions: tuple[str, str], **more: Any) -> Record:
    """A turn as recordings have it."""
    called = [{"name": name, "arg": arg} for name, arg in actions]
    return {"step": 1, "raw": raw, "thought": thought, "actions": called, "flags": [], **more}


def record(*turns: Record, form: str = "") -> Record:
    """A run of these turns."""
    steps = [{**each, "step": step} for step, each in enumerate(turns, start=1)]
    return {"id": "own-1", "format": form, "turns": steps}


FEVER = [
    turn(" I look it up.\nAction 1: Search[Oder]", "I look it up.", ("search", "Oder")),
    turn(" It is\nso.\nAction 2: Finish[SUPPORTS]", "It is\nso.", ("finish", "SUPPORTS")),
]
FEVER_UNREAD = [
    turn(" So.\nAction 3:\n\nFinish[REFUTES]", "So.", action_text="\n\nFinish[REFUTES]"),
    turn(" So it is.", "So it is.", ("finish", "REFUTES"), flags=["original_parse_failure"]),
]
WEBSHOP = [
    turn("search[red boots [size 9]]", None, ("search", "red boots [size 9]")),
    turn("think[The first fits.]", "The first fits."),
    turn("think[Of the options 'red', 'blue',", "Of the options 'red', 'blue',"),
    turn("click[< Prev]", None, ("click", "< Prev"), flags=["env_invalid_action"]),
]
FIREACT = [turn("Thought: So.\nAction:  finish[Oder]", "Thought: So. ", (" finish", "Oder"))]
FIREACT_UNREAD = [
    turn(
        "Thought: a.\nAction: search[b]\nThought: c.\nAction: search[d]",
        "Thought: a.",
        ("search", "b]\nThought: c."),
        flags=["action_not_clean"],
    )
]
REFLEXION = [turn(" I look.", "I look.", ("Search", "Oder"), raw_action=" Search[Oder]")]
REFLEXION_UNREAD = [
    turn(
        "I look.",
        "I look.",
        ("Search", "Oder], Lookup[length"),
        raw_action="Search[Oder], Lookup[length]",
    )
]
AT = "http://own.example/fhir"
ORDER = f'POST {AT}/Order\n{{"kind": "test", "of": [1, 2]}}'
MEDAGENT = [
    turn(f"GET {AT}/Patient?name=A B", None, ("GET", f"{AT}/Patient?name=A B")),
    turn(ORDER, None, ("POST", ORDER.removeprefix("POST "))),
    turn("```tool_code\nFINISH([-1])\n```\n", None, ("FINISH", "[-1]"), flags=["code_fence"]),
    turn('FINISH(["it (is) done", 2])', None, ("FINISH", '["it (is) done", 2]')),
    turn("FINISH([2 mg/dL])", None, ("FINISH", "[2 mg/dL]")),
]
MEDAGENT_UNREAD = [
    turn(f"{ORDER}\nFINISH([1])", None, ("POST", f"{ORDER[5:]}\nFINISH([1])")),
    turn(f"It is low.\n\n{ORDER}\n\nFINISH([1])", None, flags=["original_parse_failure"]),
    turn('FINISH [{"done": true}]', None, flags=["original_parse_failure"]),
    turn('```json\n{"name": "GET"}\n```', None, flags=["original_parse_failure"]),
    turn('```json\n{"kind": "test"}\n```', None, flags=["original_parse_failure"]),
]
BLOCK = [turn("I look.\n```\nls -a\n```", "I look.\n", ("command", "ls -a\n"))]
XML = [turn("I look.\n<command>\nls\n</command>", "I look.", ("command", "ls"))]
