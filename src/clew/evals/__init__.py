"""Evaluation: cases, scorers, matrices of configurations, and reports."""
