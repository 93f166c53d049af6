"""`python -m clew.cli` is the command `clew`."""

from clew.cli import main

main(prog_name="clew")
