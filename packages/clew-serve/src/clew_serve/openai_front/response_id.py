"""Ids of responses: the run, and where in it a turn begins."""

from typing import Final

from clew import Trajectory
from clew_serve.turns.turn import Turn, last_turn, turn_of_request

_BEGINS: Final = "resp_"


def response_id(turn: Turn) -> str:
    """The id of a turn, which stays the same while its words wait for it."""
    suffix = f"r{turn.request.encode().hex()}" if turn.request else str(turn.after)
    return f"{_BEGINS}{turn.run_id}~{suffix}"


def run_of(named: str) -> str:
    """The id of the run of a response; a run's own id is one too."""
    return named.removeprefix(_BEGINS).rpartition("~")[0] or named


def turn_named(named: str, record: Trajectory) -> Turn:
    """The turn of a response; the last one where only the run is named."""
    _, mark, suffix = named.rpartition("~")
    if not mark:
        return last_turn(record)
    if suffix.isascii() and suffix.isdigit() and len(suffix) < 10:
        return Turn(record.run_id, min(int(suffix), len(record)))
    try:
        request = bytes.fromhex(suffix[1:]).decode()
    except ValueError:
        return last_turn(record)
    return turn_of_request(record, request)
