"""What looks like a secret is not recorded."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

HIDDEN = "***"

_NAME = re.compile(
    r"(?i)(?:^|[-_./])(?:token|pass(?:word|wd|phrase)?|pwd|secret|credentials?|api[-_]?key|access[-_]?key(?:[-_]?id)?|secret[-_]?key"
    r"|private[-_]?key|auth[-_]?key)$"
)
_NO_SECRET = re.compile(r"(?i)(?:pad|eos|bos|unk|mask|sep|cls|image|audio|special|stop|start|end)[-_]token$")    # of language models
_IN_URL = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*://)[^/@\s]+@")
_KNOWN = re.compile(
    r"\b(?:hf_[A-Za-z0-9]{20,}|sk-[A-Za-z0-9_-]{16,}|gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}|AKIA[A-Z0-9]{16}"
    r"|xox[abprs]-[\w-]{10,}|eyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]{10,})"
)


def is_secret(name: str) -> bool:
    """Whether a setting of that name is one: ``api_key``, ``--hf-token``, ``db.password`` ...; not ``max_tokens`` or ``pad_token``."""
    return bool(_NAME.search(name)) and not _NO_SECRET.search(name)


def without_secrets(text: str) -> str:
    """A text without passwords in addresses and without the keys of well-known services."""
    return _KNOWN.sub(HIDDEN, _IN_URL.sub(rf"\g<scheme>{HIDDEN}@", text))


def command(arguments: Iterable[str]) -> list[str]:
    """A command line: of ``--password x``, ``--token=x`` and ``api_key=x`` the name is left."""
    found: list[str] = []
    hide = False
    for argument in arguments:
        name, sign, _ = argument.partition("=")
        if hide and not argument.startswith("--"):
            found.append(HIDDEN)
        else:
            found.append(f"{name}={HIDDEN}" if sign and is_secret(name) else without_secrets(argument))
        hide = not sign and argument.startswith("-") and is_secret(argument)
    return found


def settings(values: Mapping[str, Any]) -> dict[str, Any]:
    """Settings, nested as they are."""
    return {name: HIDDEN if is_secret(name) and value else _setting(value) for name, value in values.items()}


def _setting(value: Any) -> Any:
    return settings(value) if isinstance(value, Mapping) and all(isinstance(name, str) for name in value) else value
