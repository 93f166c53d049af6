"""What the model may see of the record."""

from clew.view.view import View

__all__ = ["View"]
