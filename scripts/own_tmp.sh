#!/bin/sh
# own_tmp.sh COMMAND: run tests in a temporary folder of their own.
# pytest clears what earlier runs left in the shared one, and fails where it cannot.
# The folder is removed if all passes, and named if not. Its name is short: sockets need that.
set -u
PYTEST_DEBUG_TEMPROOT=$(mktemp -d "${TMPDIR:-/tmp}/clew-XXXXXX") || exit 1
export PYTEST_DEBUG_TEMPROOT
"$@"
status=$?
if [ $status -eq 0 ]; then
    rm -rf "$PYTEST_DEBUG_TEMPROOT"
else
    echo "kept what the tests wrote: $PYTEST_DEBUG_TEMPROOT" >&2
fi
exit $status
