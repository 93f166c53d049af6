"""A run as it happens: what is shown of it, to whom, and who works on it meanwhile."""
