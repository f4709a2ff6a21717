"""What a value looks like: random, a placeholder, code, a digest."""

from __future__ import annotations

import math
import re
from collections import Counter

_PLACEHOLDER = re.compile(
    r"^(?:<.*|\$.*|%\w+%|\{\{?.*|x{3,}.*|X{3,}|\*{2,}.*|•+|\.{2,}|-+|_+|your[-_ ].*|"
    r"my[-_](?:secret|token|password|key)\w*|"
    r"(?:an?[-_ ])?(?:example|sample|dummy|fake|placeholder|changeme|change[-_]me|redacted|"
    r"hidden|masked|"
    r"none|null|nil|true|false|undefined|todo|tbd|secret|password|token|string|str|text|required|optional|"
    r"empty|unset|default|disabled|enabled|value|foo|bar|test|testing)(?:[-_ ].*)?|"
    r"\[redacted.*|process\.env.*|os\.environ.*|"
    r"os\.getenv.*|env\(.*|getenv.*|import\.meta.*|secrets\..*|vault:.*|ENC\[.*|file:.*|op://.*|\d{1,5}|0x0+)$",
    re.IGNORECASE,
)
_CODE = re.compile(
    r"[(){}\[\]<>]|=>|::|->|\blambda\b|^(?:self|this|config|settings|args|options|ctx|req|request|"
    r"os|env|data|user|app|cfg|params|state|props|event|response|result|module)\.|^[&*]\w|;$"
)
_TYPE = re.compile(
    r"^(?:str|string|int|bytes|bool|boolean|number|any|object|Optional|SecretStr|String|Option|char|text|varchar)\b"
)
_HEX = re.compile(r"^(?:0x)?[0-9a-fA-F]+$")
_WORDS = re.compile(r"^[A-Za-z]+(?:[-_. ][A-Za-z]+)*$")
_PATH = re.compile(
    r"^(?:[~.]{0,2}/|[A-Za-z]:\\)|^[\w.-]+(?:/[\w.-]+)+$|\.(?:py|js|ts|go|rs|json|ya?ml|toml|md|txt|pem|key|crt|env|log|sh)$"
)
_UUID = re.compile(r"^[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}$")
_VERSION = re.compile(r"^v?\d+(?:\.\d+)+")


def entropy(text: str) -> float:
    """Return the Shannon entropy of a text in bits a character."""
    size = len(text)
    if not size:
        return 0.0
    return -sum(n / size * math.log2(n / size) for n in Counter(text).values())


def placeholder(value: str) -> bool:
    """Whether a value stands for a secret without being one."""
    return _PLACEHOLDER.match(value) is not None or len(set(value)) < 3


def code(value: str) -> bool:
    """Whether a value is an expression or a type, not a literal."""
    return _CODE.search(value) is not None or _TYPE.match(value) is not None


def random(value: str, *, least: int, bits: float = 3.3) -> bool:
    """Whether a value looks random.

    Long enough, letters and digits mixed, no digest, path or name.
    """
    if len(value) < least or _PATH.search(value) or _UUID.match(value) or _VERSION.match(value):
        return False
    if _HEX.match(value):
        return False  # commits, digests, trace ids; a strong name makes hex a secret, elsewhere
    digits = sum(c.isdigit() for c in value)
    if not digits or digits == len(value) or _WORDS.match(value):
        return False
    mixed = (any(c.islower() for c in value) and any(c.isupper() for c in value)) or digits >= 4
    return mixed and entropy(value) >= bits


def strong_secret(value: str) -> bool:
    """Whether the value of a password-like name is one.

    Anything that is neither code nor a name.
    """
    if len(value) < 4 or placeholder(value) or code(value) or _PATH.search(value):
        return False
    if _WORDS.match(value):
        # a word alone is a name of a secret far more often than one, but for longer mixed ones
        return (
            len(value) >= 10
            and any(c.isupper() for c in value[1:])
            and entropy(value) > 3.4
            and "_" not in value
            and "-" not in value
            and not value[0].islower()
        )
    return True
