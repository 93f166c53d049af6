"""The command `clew`, before anything of it is imported: Ctrl-C meanwhile is no traceback."""

import sys

try:
    from clew.cli import main
except KeyboardInterrupt:
    sys.stderr.write("clew: interrupted\n")
    sys.exit(130)

__all__ = ["main"]

if __name__ == "__main__":
    main(prog_name="clew")
