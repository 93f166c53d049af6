"""Facts and preferences that outlive a run, each with its source and its trust."""

from clew.memory.interface import Kind, Memories, Memory, MemorySource, Tombstone
from clew.memory.render import note_of, rendered
from clew.memory.sqlite import SqliteMemory, memory_path, open_memory
from clew.memory.tools import memory_tools

__all__ = [
    "Kind",
    "Memories",
    "Memory",
    "MemorySource",
    "SqliteMemory",
    "Tombstone",
    "memory_path",
    "memory_tools",
    "note_of",
    "open_memory",
    "rendered",
]
