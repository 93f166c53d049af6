"""Self-consistency voting: several runs of one agent answer the same question."""
