"""Tools for a folder: its files, programs that run in it, and its git repository."""

from clew_code.workspace.tools import NAMES, workspace_tools

__all__ = ["NAMES", "workspace_tools"]
