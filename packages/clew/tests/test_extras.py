"""The advice on a missing extra fits the way in which clew was installed."""

import json
from pathlib import Path
from typing import Any

import pytest

from clew.support.extras import install

GIT = {"vcs": "git", "commit_id": "abc123"}


@pytest.mark.parametrize(
    ("noted", "advice"),
    [
        ({"url": "file:///src/a%20b", "dir_info": {"editable": True}}, "-e '/src/a b[web]'"),
        ({"url": "file:///src/clew", "dir_info": {}}, "'/src/clew[web]'"),
        ({"url": "https://h/clew", "vcs_info": GIT}, "'clew[web] @ git+https://h/clew@abc123'"),
        ({"url": "https://h/c.whl", "archive_info": {}}, "'clew[web] @ https://h/c.whl'"),
        ({}, "'clew[web]'"),
        ("no JSON", "'clew[web]'"),
        (None, "'clew[web]'"),
    ],
)
def test_the_advice_names_where_clew_came_from(
    noted: Any, advice: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "clew-0.1.0.dist-info"
    folder.mkdir()
    if noted is not None:
        text = noted if isinstance(noted, str) else json.dumps(noted)
        (folder / "direct_url.json").write_text(text)
    monkeypatch.setattr("sys.path", [str(tmp_path)])
    assert install("web") == f"pip install {advice}"
