"""Measuring the memory over runs: retrieval on LoCoMo, and speed."""
