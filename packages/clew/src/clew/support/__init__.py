"""Small helpers that every module may use."""
