"""Records in a PostgreSQL database."""
