"""The four reference servers of MCP, and calls of all their tools."""

from pathlib import Path
from typing import Any, Final, TypeAlias

from clew_mcp import McpServer
from tests import npm

Calls: TypeAlias = list[tuple[str, dict[str, Any]]]

ADA: Final = {"name": "Ada", "entityType": "person", "observations": ["keeps it"]}
BOB: Final = {"name": "Bob", "entityType": "person", "observations": []}
KNOWS: Final = {"from": "Ada", "to": "Bob", "relationType": "knows"}
GZIP: Final = {"name": "a.gz", "data": "data:text/plain,hello", "outputType": "resource"}

RIGHT: Final[dict[str, Calls]] = {
    "everything": [
        ("echo", {"message": "hello"}),
        ("get-annotated-message", {"messageType": "error", "includeImage": True}),
        ("get-env", {}),
        ("get-resource-links", {"count": 2}),
        ("get-resource-reference", {"resourceType": "Text", "resourceId": 1}),
        ("get-roots-list", {}),
        ("get-structured-content", {"location": "Chicago"}),
        ("get-sum", {"a": 2, "b": 3}),
        ("get-tiny-image", {}),
        ("gzip-file-as-resource", GZIP),
        ("toggle-simulated-logging", {}),
        ("toggle-subscriber-updates", {}),
        ("trigger-long-running-operation", {"duration": 0.2, "steps": 2}),
        ("trigger-sampling-request", {"prompt": "Hello?"}),
        ("trigger-elicitation-request", {}),
        ("trigger-url-elicitation", {"url": "https://example.com/sign"}),
        ("simulate-research-query", {"topic": "lighthouses"}),
    ],
    "filesystem": [
        ("list_allowed_directories", {}),
        ("create_directory", {"path": "FOLDER/made"}),
        ("write_file", {"path": "FOLDER/made/a.txt", "content": "one\ntwo\n"}),
        ("edit_file", {"path": "FOLDER/made/a.txt", "edits": [{"oldText": "two", "newText": "2"}]}),
        ("read_text_file", {"path": "FOLDER/made/a.txt"}),
        ("read_file", {"path": "FOLDER/made/a.txt", "head": 1}),
        ("read_multiple_files", {"paths": ["FOLDER/made/a.txt"]}),
        ("read_media_file", {"path": "FOLDER/picture.png"}),
        ("get_file_info", {"path": "FOLDER/made/a.txt"}),
        ("list_directory", {"path": "FOLDER/made"}),
        ("list_directory_with_sizes", {"path": "FOLDER/made"}),
        ("directory_tree", {"path": "FOLDER/made"}),
        ("search_files", {"path": "FOLDER", "pattern": "**/*.txt"}),
        ("move_file", {"source": "FOLDER/made/a.txt", "destination": "FOLDER/made/b.txt"}),
    ],
    "memory": [
        ("create_entities", {"entities": [ADA, BOB]}),
        ("create_relations", {"relations": [KNOWS]}),
        ("add_observations", {"observations": [{"entityName": "Bob", "contents": ["sails"]}]}),
        ("read_graph", {}),
        ("search_nodes", {"query": "sails"}),
        ("open_nodes", {"names": ["Ada"]}),
        ("delete_observations", {"deletions": [{"entityName": "Bob", "observations": ["sails"]}]}),
        ("delete_relations", {"relations": [KNOWS]}),
        ("delete_entities", {"entityNames": ["Ada", "Bob"]}),
    ],
    "thinking": [
        (
            "sequentialthinking",
            {
                "thought": "First.",
                "nextThoughtNeeded": False,
                "thoughtNumber": 1,
                "totalThoughts": 1,
            },
        ),
    ],
}
"""Each tool of each server, with arguments that are right; FOLDER is the server's."""

_PACKAGES: Final = {"thinking": "sequential-thinking"}


def server_of(name: str, folder: Path, **more: Any) -> McpServer:
    """The settings of a server whose folder this is."""
    program, script = npm.program(f"server-{_PACKAGES.get(name, name)}")
    given: dict[str, Any] = {"name": name, "command": program, "args": (script,)}
    if name == "filesystem":
        given["args"] = (script, str(folder))
    if name == "memory":
        given["env"] = {"MEMORY_FILE_PATH": str(folder / "memory.jsonl")}
    if name == "everything":
        given |= {"sampling": 500, "roots": (str(folder),)}
    return McpServer(**{**given, **more})


OUTSIDE: Final = "/nowhere/a.txt"
WRONG: Final[dict[str, Calls]] = {
    "everything": [
        ("get-resource-reference", {"resourceType": "Text", "resourceId": -1}),
        ("gzip-file-as-resource", {**GZIP, "data": "file:///etc/passwd"}),
    ],
    "filesystem": [
        ("create_directory", {"path": OUTSIDE}),
        ("write_file", {"path": OUTSIDE, "content": "x"}),
        ("edit_file", {"path": "FOLDER/b.txt", "edits": [{"oldText": "no", "newText": "x"}]}),
        ("read_text_file", {"path": OUTSIDE}),
        ("read_file", {"path": "FOLDER/../x"}),
        ("read_media_file", {"path": OUTSIDE}),
        ("get_file_info", {"path": "FOLDER/absent"}),
        ("list_directory", {"path": OUTSIDE}),
        ("list_directory_with_sizes", {"path": OUTSIDE}),
        ("directory_tree", {"path": OUTSIDE}),
        ("search_files", {"path": OUTSIDE, "pattern": "*"}),
        ("move_file", {"source": "FOLDER/absent", "destination": "FOLDER/c.txt"}),
    ],
    "memory": [("add_observations", {"observations": [{"entityName": "Eve", "contents": []}]})],
    "thinking": [],
}
"""Calls that fit the tool's schema and that the server refuses, where it refuses any."""


def filled(value: Any, folder: Path) -> Any:
    """The arguments of a call, with the server's folder."""
    if isinstance(value, str):
        return value.replace("FOLDER", str(folder))
    if isinstance(value, list):
        return [filled(each, folder) for each in value]
    if isinstance(value, dict):
        return {name: filled(each, folder) for name, each in value.items()}
    return value
