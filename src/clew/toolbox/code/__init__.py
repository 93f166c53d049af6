"""Programs that a model wrote, whose functions are tools: code as action."""
