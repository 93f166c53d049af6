"""`clew mcp` and `clew tools classify`."""

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
    help="MCP: tools of servers, pins; serve agents as tools.",
    sections={
        "Commands": (
            CommandEntry("list", "List servers and their tools.", "clew_mcp.cli.mcp"),
            PINS,
            CommandEntry("serve", "Serve agents as MCP tools and tasks.", "clew_mcp.cli.serve_mcp"),
        )
    },
    default="list",
)
