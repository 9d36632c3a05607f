"""What looks like a secret is not recorded."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from summarykit.kinds.flatten import members_of

HIDDEN = "***"

_DEEPEST = 100    # levels of nested settings (a stage of a data pipeline has two): of what is deeper, or holds itself, nothing is told
_NAME = re.compile(
    r"(?i)(?:pass(?:words?|wd|phrase)|(?:^|[^a-z0-9])(?:token|pass|pwd|secrets?|credentials?|api[-_]?keys?|access[-_]?key(?:[-_]?id)?"
    r"|secret[-_]?key|private[-_]?key|auth(?:orization|[-_]?key)?|bearer|cookies?))$"
)
_NO_SECRET = re.compile(    # of models, and of how they are run
    r"(?i)(?:pad|eos|bos|eot|unk|unknown|mask|sep|cls|class|image|audio|video|prefix|suffix|special|stop|start|end|new|num|max|min|per|forward"
    r"|backward)[-_](?:token|pass)$"
)
_WORDS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")    # authToken is auth_Token, and HFToken HF_Token

# Each begins where a word does and looks a bounded way ahead: a line may be megabytes of base64, and no thread runs meanwhile.
_IN_URL = re.compile(r"(?P<scheme>(?<![A-Za-z0-9+.-])[A-Za-z][A-Za-z0-9+.-]{0,30}://)[^/@\s]{1,500}@")
_SIGNED = re.compile(r"(?i)(?P<name>[?&](?:[\w-]{0,30}signature|sig)=)[^\s&#\"']+")    # an address that is itself the permission
_IN_QUERY = re.compile(r"(?P<name>[?&][A-Za-z_][\w.-]{0,99})(?P<sign>=)[^\s&#\"']+")
_KNOWN = re.compile(
    r"\b(?:hf_[A-Za-z0-9]{20,}|sk-[A-Za-z0-9_-]{16,}|gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}|AKIA[A-Z0-9]{16}"
    r"|xox[abprs]-[\w-]{10,}|(?<!-)eyJ[\w-]{10,2000}\.[\w-]{10,5000}\.[\w-]{10,})"
)
_HEADER = re.compile(r"(?i)(?P<name>\bauthorization[\"']?\s{0,9}[:=]\s{0,9}[\"']?)(?:bearer|basic|token)\s{1,9}[^\s\"']+")
_LITERAL = re.compile(
    r"""(?P<name>(?<![\w.-])[A-Za-z_][\w.-]{0,99})(?P<sign>["']?\s{0,9}[:=]\s{0,9})(?:"(?:[^"\\\n]|\\.){1,5000}"|'(?:[^'\\\n]|\\.){1,5000}')"""
)
_ASSIGNED = re.compile(r"(?P<name>(?<![\w.-])[A-Za-z_][\w.-]{0,99})(?P<sign>=)[^\s,;&\"']+")
_VARIABLE = re.compile(r"(?P<name>\b[A-Z][A-Z0-9_]{0,99})(?P<sign>=)[^\s,;&\"']+")    # of a shell


def is_secret(name: str) -> bool:
    """Whether a setting of that name is one: ``api_key``, ``--hf-token``, ``db.password`` ...; not ``max_tokens`` or ``pad_token``."""
    words = _WORDS.sub("_", name)
    return bool(_NAME.search(words)) and not _NO_SECRET.search(words)


def without_secrets(text: str) -> str:
    """A text without passwords in addresses, keys of well-known services and what code or a shell gives to a name such as ``api_key``."""
    return "".join(_assigned(_VARIABLE, _assigned(_LITERAL, _plain(line))) for line in text.splitlines(keepends=True))


def command(arguments: Iterable[str]) -> list[str]:
    """A command line: of ``--password x``, ``--token=x`` and ``api_key=x`` the name is left."""
    found: list[str] = []
    hide = False
    for argument in arguments:
        name, sign, _ = argument.partition("=")
        if hide and not argument.startswith("--"):
            found.append(HIDDEN)
        else:
            found.append(f"{name}={HIDDEN}" if sign and is_secret(name) else _assigned(_ASSIGNED, without_secrets(argument)))
        hide = not sign and argument.startswith("-") and is_secret(argument)
    return found


def settings(values: Mapping[Any, Any], above: tuple[Any, ...] = ()) -> dict[Any, Any]:
    """Settings, nested in mappings, dataclasses, named tuples, namespaces and lists: these come back as dicts and lists.

    Args:
        values: the settings.
        above: what they are nested in.
    """
    return {name: _hidden(value) if is_secret(str(name)) else _setting(value, above) for name, value in values.items()}


def _hidden(value: Any) -> Any:
    tells_nothing = value is None or isinstance(value, (bool, float)) or (isinstance(value, (str, int)) and not value)
    return value if tells_nothing else HIDDEN


def _setting(value: Any, above: tuple[Any, ...]) -> Any:
    if isinstance(value, str):
        return without_secrets(value)
    members = value if type(value) in (list, tuple) else members_of(value)
    if not members:
        return value
    if len(above) == _DEEPEST or any(value is each for each in above):
        return HIDDEN
    inside = (*above, value)
    return settings(members, inside) if isinstance(members, dict) else [_setting(each, inside) for each in members]


def _plain(text: str) -> str:
    text = _KNOWN.sub(HIDDEN, _IN_URL.sub(rf"\g<scheme>{HIDDEN}@", text))
    for pattern in (_SIGNED, _HEADER):
        text = pattern.sub(rf"\g<name>{HIDDEN}", text)
    return _assigned(_IN_QUERY, text)


def _assigned(pattern: re.Pattern[str], text: str) -> str:
    return pattern.sub(lambda found: f"{found['name']}{found['sign']}{HIDDEN}" if is_secret(found["name"]) else found[0], text)
