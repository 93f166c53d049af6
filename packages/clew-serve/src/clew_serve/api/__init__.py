"""The API under `/api`: runs and what is done with them, as JSON and as live events."""
