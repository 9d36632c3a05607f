"""Files are opened by the system: a store behind a URL must be mounted, or copied to and from."""

from __future__ import annotations

import os
import re

from summarykit.errors import RemotePathError

_SCHEMES = (
    "abfss?|adl|asyncfs|az|azure|b2|bos|ceph|cosn?|dbfs|file|ftps?|gcs|gs|hdfs|hf|https?|lakefs|minio|obs|oci|oss|r2|s3[an]?|scp|sftp|ssh|"
    "swift|tos|viewfs|wasbs?|webdavs?|webhdfs"
)
_URL = rf"[A-Za-z][A-Za-z0-9+.-]+://|(?i:{_SCHEMES}):/"    # of two slashes a Path has lost one; one letter is a drive


def path_text(argument: str, value: str | os.PathLike[str]) -> str:
    """A path as text.

    Raises:
        TypeError: neither a str nor a path.
        ValueError: blank, or with a NUL character in it.
    """
    text = os.fspath(value) if isinstance(value, (str, os.PathLike)) else None
    if not isinstance(text, str):
        raise TypeError(f"{argument} must be a str or a path, got {value!r}")
    if not text.strip() or "\0" in text:
        raise ValueError(f"{argument} {text!r} is not a path")
    return text


def refuse_url(argument: str, path: str | os.PathLike[str]) -> None:
    """Refuse what would otherwise be a local folder called ``s3:``.

    Raises:
        RemotePathError: the path is a URL.
    """
    text = os.fspath(path)
    if ":/" in text and re.match(_URL, text):
        raise RemotePathError(
            f"{argument} {text!r} is a URL: only local directories can be read and written. Mount the store and give the path of that; or "
            "copy the files. With max_file_size a record goes on in a new file now and then: those before it never change, so it is enough "
            "to send each of them once"
        )
