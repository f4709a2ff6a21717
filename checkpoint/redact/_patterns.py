"""Where values stand: after names, in headers, in addresses, on command lines."""

from __future__ import annotations

import re

MASK = re.compile(r"\[redacted:[\w-]+\]")
URL = re.compile(r"://(?P<user>[^\s:/@?#\"'<>]{0,100}):(?P<secret>[^\s/@\"'<>]{1,300})@[\w.\[-]")
URL_TOKEN = re.compile(r"://(?P<secret>[A-Za-z0-9_-]{20,250})@[\w.-]+\.\w")
BEARER = re.compile(
    r"(?:bearer|basic|token|apikey)\s+(?P<secret>[A-Za-z0-9._~+/-]{12,2000}={0,2})", re.I
)
ASSIGN = re.compile(
    r"[\w.-]{0,60}?[\"'`]?\]?\s{0,3}(?P<sign>=>|:=|==?|:|\s(?:is|ist|es|est|是|为)\s)\s{0,3}"
    r"(?:\\?[\"'`](?P<quoted>[^\"'`\n\\]{1,400})\\?[\"'`]|(?P<bare>[^\s\"'`,;&|<>\\]{1,400}))"
)
FLAG = re.compile(r"(?:[= ]|\s+)[\"']?(?P<secret>[^\s\"'|;&]{4,200})")
BEFORE_FLAG = re.compile(r"(?:^|\s)--?[\w-]{0,30}$")
USER = re.compile(r"-u\s*[\"']?[\w.@+-]{1,80}:(?P<secret>[^\s\"']{4,200})")
SSHPASS = re.compile(r"sshpass\s+-p\s*[\"']?(?P<secret>[^\s\"']{3,200})")
MYSQL = re.compile(
    r"(?:mysql|mysqldump|mariadb|mysqladmin)\b[^\n|;&]{0,120}?\s-p(?P<secret>[^\s\"'-][^\s\"']{3,100})"
)
WORD = re.compile(
    r"[^\n]{0,40}?(?<![A-Za-z0-9+/_=.-])(?P<secret>[A-Za-z0-9+/_=-]{20,200})(?![A-Za-z0-9+/_=-])"
)
BASE64 = re.compile(r"[A-Za-z0-9+/_-]{16,}={0,2}")
JOIN = re.compile(
    r"\\\r?\n[ \t]*|[\"'][ \t]*\+?[ \t]*\\?\r?\n[ \t]*\+?[ \t]*[fru]?[\"']|[\"'] ?\+ ?[\"']"
)
INSIDE = re.compile(r"[A-Za-z0-9]")
