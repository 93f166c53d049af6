"""How often the rules of the strategy `auto` choose the way that suits a task."""
