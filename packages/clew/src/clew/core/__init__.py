"""The core: a durable run. `docs/architecture.md` says in which order to read its files."""
