"""The store: result folders that never lose a finished run."""

from __future__ import annotations

from aqmlab.files.disk import check_new, check_writable, dated, discard_if_empty
from aqmlab.store.folder import Folder, opened, reused
from aqmlab.store.manifest import FORMAT_VERSION, concluded
from aqmlab.store.reading import StoredResult, is_result, read

__all__ = [
    "FORMAT_VERSION",
    "Folder",
    "StoredResult",
    "check_new",
    "check_writable",
    "concluded",
    "dated",
    "discard_if_empty",
    "is_result",
    "opened",
    "read",
    "reused",
]
