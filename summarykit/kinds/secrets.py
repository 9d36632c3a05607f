"""What looks like a secret is not recorded."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from summarykit.kinds.flatten import members_of
from summarykit.kinds.secret_names import is_secret

HIDDEN = "***"

_DEEPEST = 100    # levels of nested settings (a stage of a data pipeline has two): of what is deeper, or holds itself, nothing is told

# Each begins where a word does and looks a bounded way ahead: a line may be megabytes of base64, and no thread runs meanwhile.
_IN_URL = re.compile(r"(?P<scheme>(?:(?<![A-Za-z0-9+.-])|(?<=^[+-]))[A-Za-z][A-Za-z0-9+.-]{0,30}://)[^/@\s]{1,500}@(?:[^/@\s\"',<>]{0,500}@)*")
_SIGNED = re.compile(r"(?i)(?P<name>[?&](?:[\w-]{0,30}signature|sig)=)[^\s&#\"']+")    # an address that is itself the permission
_KNOWN = re.compile(
    r"\b(?:hf_[A-Za-z0-9]{20,}|sk-[A-Za-z0-9_-]{16,}|gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}|AKIA[A-Z0-9]{16}"
    r"|xox[abprs]-[\w-]{10,}|(?<!-)eyJ[\w-]{10,2000}\.[\w-]{10,5000}\.[\w-]{10,})"
)
_PRIVATE_KEY = re.compile(r"(?P<name>-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----)(?:[\w+/=:,.\s\\]|-(?!----)){20,5000}")
_HEADER = re.compile(r"(?i)(?P<name>\bauthorization\\{0,7}[\"']?\s{0,9}[:=]\s{0,9}\\{0,7}[\"']?)(?:bearer|basic|token)\s{1,9}[^\s\"'\\]+")

_BEGIN = r"(?:\\[nt]|(?<![\w.-]))-{0,3}"    # of a name, also of an option, of what a diff takes away, and after "\n" in a text

# A name with its sign, and what may follow it. Where a name is none of a secret's, what it stands for may hold such a one.
_QUERY = re.compile(r"[?&](?P<name>[A-Za-z_][\w.-]{0,99})="), re.compile(r"[^\s&#\"']+")
_LITERAL = (    # of code and JSON, also where that stands in a text: \"api_key\": \"x\"; os.environ["API_KEY"] = "x"; api_key: str = "x"
    re.compile(
        _BEGIN + r"(?P<name>[A-Za-z_][\w.-]{0,99})\\{0,7}[\"']?\]?\s{0,9}(?::[\w\s.|\[\]]{0,60}=|={1,2}|:)\s{0,9}[bfruBFRU]{0,2}(?=[\"'\\])"
    ),
    re.compile(
        r"\"{3}[^\n]{1,5000}?\"{3}|'{3}[^\n]{1,5000}?'{3}|"
        r"(?P<quote>\\{1,7}[\"'])(?!(?P=quote))[^\n]{1,5000}?(?<!\\)(?P=quote)|\"(?:[^\"\\\n]|\\.){1,5000}\"|'(?:[^'\\\n]|\\.){1,5000}'"
    ),
)
_YAML = (    # not: a type, a variable, small numbers, nothing, and whatever holds brackets, blanks or quotes
    re.compile(r"(?:^[+-]?|[{,\"']|\\n)[ \t]{0,99}(?:-[ \t]{1,9})?(?P<name>[A-Za-z_][\w.-]{0,99})[ \t]{0,9}:[ \t]{1,9}"),
    re.compile(
        r"(?!(?:str|string|int|bool|float|bytes|object|null|none|true|false|\d{0,3}(?:\.\d{1,99})?|(?:[A-Za-z_]\w{0,99}\.){0,9}"
        r"(?:[A-Z][A-Za-z]{0,99}|ndarray)|\$\w{1,99}|\$\{.{1,99}\})(?![^\s,}]))"
        r"[^\s,{}\[\]()<>|&*!%@`\"'#](?:(?!\\n)[^\s,{}\[\]()\"'])*(?=\\n|\s*(?:[,}\"']|$)|\s+#)"
    ),
)
_ARGUMENT = re.compile(r"(?<![\w.-])(?P<name>[A-Za-z_][\w.-]{0,99})="), re.compile(r"[^\s,;&\"']+")
_VARIABLE = re.compile(r"(?:\\[nt]|\b)(?P<name>[A-Z][A-Z0-9_]{0,99})="), re.compile(r"[^\s,;&\"']+")    # of a shell
_OPTION = re.compile(r"(?<![\w.-])-{2,3}(?P<name>[A-Za-z][\w.-]{0,99})="), re.compile(r"[^\s,;&\"'${}][^\s,;&\"']*")
_MARK = re.compile(r"[\"'\\]{0,8}(?:<[^<>]{0,99}>|\[[^\[\]]{0,99}\])[\"'\\]{0,8}")    # of a model's vocabulary, "<image>"; or "<your key>"

Assignment = tuple[re.Pattern[str], re.Pattern[str]]


def without_secrets(text: str) -> str:
    """A text without passwords in addresses, keys of well-known services and what code or a shell gives to a name such as ``api_key``."""
    lines = _PRIVATE_KEY.sub(rf"\g<name>{HIDDEN}", text).splitlines(keepends=True)
    return "".join(_assigned(_plain(line), _LITERAL, _YAML, _VARIABLE, _OPTION) for line in lines)


def command(arguments: Iterable[str]) -> list[str]:
    """A command line: of ``--password x``, ``--token=x`` and ``api_key=x`` the name is left."""
    found: list[str] = []
    hide = False
    for argument in arguments:
        name, sign, _ = argument.partition("=")
        if hide and not argument.startswith("--"):
            found.append(HIDDEN)
        else:
            found.append(f"{name}={HIDDEN}" if sign and is_secret(name) else _assigned(without_secrets(argument), _ARGUMENT))
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
    tells_nothing |= isinstance(value, str) and _MARK.fullmatch(value) is not None
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
    return _assigned(text, _QUERY)


def _assigned(text: str, *assignments: Assignment) -> str:
    for names, values in assignments:
        text = "".join(_parts(text, names, values))
    return text


def _parts(text: str, names: re.Pattern[str], values: re.Pattern[str]) -> Iterator[str]:
    at = begin = 0
    while found := names.search(text, begin):
        begin = found.end("name")    # not its sign: what looks like the type of a variable may be a name itself, "Error: api_key='x'"
        value = values.match(text, found.end()) if is_secret(found["name"]) else None
        if value and not _MARK.fullmatch(value[0]):
            yield f"{text[at : found.end()]}{HIDDEN}"
            at = begin = value.end()
    yield text[at:]
