"""Manage records: delete, export, import, verify.

- `gc` deletes runs by age, size and status.
- `export_runs` writes runs from any store, even a damaged one, into an archive, one file of JSON
  lines; `import_runs` reads them into any store.
- `verify` checks whether each run is what was written.

Each has a sync twin, as in `clew`.
"""

from clew.concurrency.portal import twin
from clew.retention.archive import Exported, export_runs
from clew.retention.gc import STATUSES, STOPPED, GcReport, gc
from clew.retention.importer import Imported, import_runs
from clew.retention.integrity import EntryError
from clew.retention.listing import Remark, RunState, run_ids
from clew.retention.traces import read_trace, trace, trace_entry
from clew.retention.verify import Verification, verify

__all__ = [
    "STATUSES",
    "STOPPED",
    "EntryError",
    "Exported",
    "GcReport",
    "Imported",
    "Remark",
    "RunState",
    "Verification",
    "export_runs",
    "export_runs_sync",
    "gc",
    "gc_sync",
    "import_runs",
    "import_runs_sync",
    "read_trace",
    "run_ids",
    "trace",
    "trace_entry",
    "verify",
    "verify_sync",
]  # fmt: skip

gc_sync = twin(gc)
export_runs_sync = twin(export_runs)
import_runs_sync = twin(import_runs)
verify_sync = twin(verify)
