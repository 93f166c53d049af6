"""Three frameworks serve the same application; one driver plays what goes wrong."""
