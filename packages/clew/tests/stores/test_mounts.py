"""A store on a network file system is named."""

import logging
from pathlib import Path

import pytest

from clew import SqliteStore
from clew.stores.sqlite import file
from clew.stores.sqlite.file import mount_table, network_type

LOCAL = """\
/dev/sda1 / ext4 rw,relatime 0 0
proc /proc proc rw 0 0
broken
"""


@pytest.mark.parametrize(
    ("line", "path", "kind"),
    [
        ("host:/x /mnt/a nfs rw 0 0", "/mnt/a/runs", "nfs"),
        ("host:/x /mnt/a nfs4 rw 0 0", "/mnt/a", "nfs4"),
        ("//host/x /mnt/a cifs rw 0 0", "/mnt/a/b/c", "cifs"),
        ("//host/x /mnt/a smb3 rw 0 0", "/mnt/a/b", "smb3"),
        ("u@host: /srv/far fuse.sshfs rw 0 0", "/srv/far/x", "fuse.sshfs"),
        ("host:/x /mnt/my\\040files nfs rw 0 0", "/mnt/my files/runs", "nfs"),
        ("host:/x / nfs rw 0 0", "/srv/u", "nfs"),
        ("share /c 9p rw 0 0", "/c/Users", "9p"),
        ("x /mnt/a fuse.glusterfs rw 0 0", "/mnt/a/r", "fuse.glusterfs"),
        ("x /mnt/a ceph rw 0 0", "/mnt/a/r", "ceph"),
        ("x /mnt/a lustre rw 0 0", "/mnt/a/r", "lustre"),
        ("x /mnt/a fuse.s3fs rw 0 0", "/mnt/a/r", "fuse.s3fs"),
        ("host:/x /mnt/a nfs rw 0 0", "/mnt/ab", ""),
        ("host:/x /mnt/a nfs rw 0 0\n/dev/b /mnt/a/disk xfs rw 0 0", "/mnt/a/disk/r", ""),
        ("host:/x /mnt/a nfs rw 0 0\ntmpfs /mnt/a tmpfs rw 0 0", "/mnt/a/r", ""),
        ("x /mnt/a fuse.bindfs rw 0 0", "/mnt/a/r", ""),
        ("x /mnt/a overlay rw 0 0", "/mnt/a/r", ""),
    ],
)
def test_the_mount_that_holds_a_path_tells(line: str, path: str, kind: str) -> None:
    assert network_type(Path(path), LOCAL + line) == kind


async def test_a_store_there_is_named_once_and_opens(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    table = tmp_path / "mounts"
    table.write_text(f"{LOCAL}host:/x {tmp_path} nfs4 rw 0 0\n")
    monkeypatch.setattr(file, "MOUNTS", table)
    with caplog.at_level(logging.WARNING):
        for _ in range(2):
            await SqliteStore(tmp_path / "far.sqlite").close()
    assert len(caplog.messages) == 1
    assert "is on a network file system (nfs4)" in caplog.text
    monkeypatch.setattr(file, "MOUNTS", tmp_path / "none")
    assert mount_table() == ""
