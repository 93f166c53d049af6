"""The agent that people write, and the engine that it is made into."""
