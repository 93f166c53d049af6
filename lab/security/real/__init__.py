"""The harness with a real local model: as planner of the sealed plan, and doing everything."""
