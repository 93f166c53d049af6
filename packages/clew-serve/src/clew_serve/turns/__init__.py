"""What fronts of other protocols share: a run's turn is begun, followed, and told in safe words."""
