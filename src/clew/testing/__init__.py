"""What ships for tests of one's own: models that follow a script, and contracts for stores."""
