"""What the offline rules make of notes that they were not written for."""
