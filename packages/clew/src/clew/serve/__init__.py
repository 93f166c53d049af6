"""Agents as services for other programs."""
