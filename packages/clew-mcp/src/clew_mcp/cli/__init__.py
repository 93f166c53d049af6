"""`clew mcp`, `clew serve-mcp` and `clew tools classify`."""

from typing import Final

from clew.cli.groups import CommandGroup, Entry

PINS: Final = Entry(
    "pins",
    "What a server said of its tools when it was accepted.",
    commands=(
        Entry("list", "Show what is pinned.", "clew_mcp.cli.mcp_pins"),
        Entry("accept", "Pin what a server says now.", "clew_mcp.cli.mcp_pins"),
        Entry("reject", "Refuse calls while it says that.", "clew_mcp.cli.mcp_pins"),
    ),
    default="list",
)
MCP: Final = CommandGroup(
    "mcp",
    help="MCP servers: their tools, and what is pinned of them.",
    sections={
        "Commands": (Entry("list", "List servers and their tools.", "clew_mcp.cli.mcp"), PINS)
    },
    default="list",
)
