"""Live events: one follower for all who watch a run, each of whom has a position of its own."""
