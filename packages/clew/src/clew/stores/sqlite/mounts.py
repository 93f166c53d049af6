"""Whether a store lies on a network file system, whose locks SQLite cannot rely on."""

import re
from pathlib import Path
from typing import Final

MOUNTS: Final = Path("/proc/self/mounts")

_NETWORK: Final = re.compile(
    r"(nfs|smb|cifs|ncp|afs|9p|ceph|gluster|lustre|beegfs|gpfs|orangefs|pvfs|davfs|coda|gfs)\w*"
    r"|fuse\.(sshfs|glusterfs\S*|ceph\S*|davfs\S*|s3fs|rclone|gcsfuse|goofys|mount-s3|smb\S*|nfs\S*"
    r"|curlftpfs|juicefs|moosefs|mfs|seaweedfs|lizardfs|blobfuse\S*|onedriver|google-drive\S*)"
)
"""Types of network file systems as the kernel names them."""


def network_type(path: Path, table: str) -> str:
    """The type of the network file system that holds an absolute path; "" for a local one.

    `table` is the text of the kernel's mount table: device, mount point, type, options.
    """
    found, depth = "", -1
    for line in table.splitlines():
        fields = line.split(" ")
        if len(fields) < 3:
            continue
        point = Path(re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), fields[1]))
        if path.is_relative_to(point) and len(point.parts) >= depth:
            found, depth = fields[2], len(point.parts)  # a later mount covers an earlier one
    return found if _NETWORK.fullmatch(found) else ""


def mount_table() -> str:
    """The kernel's mount table; "" where there is none."""
    try:
        return MOUNTS.read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return ""
