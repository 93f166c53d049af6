"""clew: a ReAct runtime whose record is the only state."""
