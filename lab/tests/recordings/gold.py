"""Stateful gold runs written for these tests, in the form of the recorded ones."""

import gzip
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias

Record: TypeAlias = dict[str, Any]


def declared(name: str, **properties: object) -> Record:
    """A function in the recordings' own dialect of JSON Schema; all arguments are required."""
    parameters = {"type": "dict", "properties": properties, "required": list(properties)}
    return {"name": name, "description": f"{name} of the house", "parameters": parameters}


TEXT, PARTS = {"type": "string"}, {"type": "float"}
TOOLS = {
    "Lamps": [
        declared("lamp.set", room=TEXT, **{"how bright": PARTS}),
        declared("lamp.all_off"),
    ],
    "Doors": [declared("open_door", room=TEXT), declared("list_doors")],
}
OPEN, OPENED = ("open_door", {"room": "cellar"}), '{"open": ["cellar"]}'
DIM = ("lamp.set", {"room": "hall", "how bright": 0.5})


def turn(words: str, *calls: tuple[tuple[str, object], str]) -> Record:
    """A round: what a person said, and the calls that belong there with what they observe."""
    return {
        "user": [{"role": "user", "content": words}] if words else [],
        "gold_calls": [
            {"name": name, "args": args, "observation": seen, "cls": "House"}
            for (name, args), seen in calls
        ],
    }


def record(id_: str, *turns: Record, left_out: Sequence[str] = ()) -> Record:
    """A record with the functions of both classes but those left out."""
    return {
        "id": id_, "involved_classes": list(TOOLS), "excluded_function": list(left_out),
        "turns": list(turns),
    }  # fmt: skip


RUNS = [
    record(
        "twice",
        turn("Open the cellar.", (OPEN, OPENED)),
        turn("And again?", (OPEN, "it is open"), (("list_doors", {}), OPENED)),
        left_out=["lamp.all_off"],
    ),
    record(
        "nothing at first",
        turn("Dim the light in the hall."),
        turn("", (DIM, "None"), (DIM, "None")),
        turn("Thank you."),
    ),
]
"""Names no provider takes, a call again with another result, a round without calls or words."""

LEFT_OUT = record(
    "left out", turn("Which doors?", (("list_doors", {}), OPENED)), left_out=["list_doors"]
)
WRONG = record(
    "wrong", turn("Dim it.", (("lamp.set", {"room": "hall", "how bright": "half"}), "None"))
)


def written(folder: Path, runs: Sequence[Record]) -> None:
    """Lay the runs and their functions down as recordings."""
    (folder / "bfcl-multiturn-tools.json").write_text(json.dumps(TOOLS), encoding="utf-8")
    with gzip.open(folder / "own-bfcl-multiturn.jsonl.gz", "wt", encoding="utf-8") as lines:
        lines.writelines(f"{json.dumps(one)}\n" for one in runs)
