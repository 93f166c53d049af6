"""Models behind HTTP: connections, retries and rate limits, the same for every provider."""
