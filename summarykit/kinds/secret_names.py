"""Which settings are secrets, by their names. There is no other list."""

from __future__ import annotations

import re

_NAME = re.compile(
    r"(?i)(?:pass(?:words?|wd|phrase|code)|(?:^|[^a-z0-9])(?:token|pass|pwd|secrets?|credentials?|api[-_]?keys?|access[-_]?key(?:[-_]?id)?"
    r"|(?:secret|private|account|encryption|signing|ssh|master|subscription|license|wandb|hf|openai)[-_]?key|auth(?:orization|[-_]?key)?"
    r"|bearer|cookies?))$"
)
_NO_SECRET = re.compile(    # of models, and of how they are run
    r"(?i)(?:pad|eos|bos|eot|unk|unknown|mask|sep|cls|class|image|audio|video|prefix|suffix|special|stop|start|end|new|num|max|min|per|forward"
    r"|backward)[-_](?:token|pass)$"
)
_WORDS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")    # authToken is auth_Token, and HFToken HF_Token


def is_secret(name: str) -> bool:
    """Whether a setting of that name is one: ``api_key``, ``--hf-token``, ``db.password`` ...; not ``max_tokens`` or ``pad_token``."""
    words = _WORDS.sub("_", name)
    return bool(_NAME.search(words)) and not _NO_SECRET.search(words)
