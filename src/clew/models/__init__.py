"""Models: whatever completes a prompt. `resolve("provider:model")` finds one by its name."""
