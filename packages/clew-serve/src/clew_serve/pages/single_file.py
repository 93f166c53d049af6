"""A run as one file that can be mailed: what its page has, without a server behind it.

It has no script, its style and pictures are in it, and its own policy lets a browser load nothing.
"""

import hashlib
from base64 import b64encode
from collections.abc import AsyncGenerator
from typing import Final

from markupsafe import Markup

from clew.interfaces import Store
from clew.stores import Owns
from clew.stores.listing import entries_after, runs_with, status_of, summary
from clew.stores.refusals import unknown_run
from clew_serve.pages.assets import STYLE
from clew_serve.pages.live import SCREEN, thread_of
from clew_serve.pages.rendering import entire_fragment
from clew_serve.pages.run import title_of

_STYLE_HASH: Final = b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
_POLICY: Final = (
    f"default-src 'none'; style-src 'sha256-{_STYLE_HASH}'; img-src data:; form-action 'none'; "
    "base-uri 'none'"
)
_END: Final = b"</div>\n</main>\n</body>\n</html>\n"


async def single_file(store: Store, run_id: str) -> AsyncGenerator[bytes]:
    """The file in pieces, as far as the run has come: a long one is never in memory as a whole.

    Raises `StoreError`.
    """
    infos = await runs_with(store, 1, run_id=run_id)
    if not infos:
        raise unknown_run(run_id)
    (info,) = infos
    run = summary(info)
    started = None if run is None else run.started
    foreign = await store.foreign(run_id) if isinstance(store, Owns) else 0
    yield entire_fragment(
        "single_head.html", policy=Markup(_POLICY), style=Markup(STYLE),  # noqa: S704 - they hold nothing that others wrote
        title=title_of(info, started), info=info, started=started, foreign=foreign,
        status=status_of(info.last.body),
    ).encode()  # fmt: skip
    thread = thread_of(info, 0, 0)
    thread.alone = True
    last = 0
    while last < info.entries:
        entries = await entries_after(store, run_id, last, min(SCREEN, info.entries - last))
        if not entries:
            break
        last = entries[-1].seq
        for entry in entries:
            yield thread.drawn([entry]).encode()
    yield _END
