"""The reports of `lab/reports`: written from what was measured, which is kept beside them."""
