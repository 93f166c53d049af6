"""`clew mcp`, `clew serve-mcp` and `clew tools classify`."""

from typing import Final

from clew.cli.groups import CommandEntry, CommandGroup

PINS: Final = CommandEntry(
    "pins",
    "What a server said of its tools when it was accepted.",
    commands=(
        CommandEntry("list", "Show what is pinned.", "clew_mcp.cli.mcp_pins"),
        CommandEntry("accept", "Pin what a server says now.", "clew_mcp.cli.mcp_pins"),
        CommandEntry("reject", "Refuse calls while it says that.", "clew_mcp.cli.mcp_pins"),
    ),
    default="list",
)
MCP: Final = CommandGroup(
    "mcp",
    help="MCP servers: their tools, and what is pinned of them.",
    sections={
        "Commands": (
            CommandEntry("list", "List servers and their tools.", "clew_mcp.cli.mcp"),
            PINS,
        )
    },
    default="list",
)
