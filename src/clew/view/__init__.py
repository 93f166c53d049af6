"""What the model may see of the record."""

from clew.view.chat_tokens import goal_of
from clew.view.view import View

__all__ = ["View", "goal_of"]
