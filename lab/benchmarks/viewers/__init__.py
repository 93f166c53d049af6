"""What it costs to look at runs: long, many, live and much-watched ones."""
