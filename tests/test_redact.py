"""Redaction: each kind of secret in each context, and what must survive. Values are made here."""

from __future__ import annotations

import base64
import itertools
import json
import random
import string
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkpoint.errors import SettingsError
from checkpoint.redact import Redactor

ALNUM = string.ascii_letters + string.digits
HEX = "0123456789abcdef"
UPPER = string.ascii_uppercase + string.digits
LOWER = string.ascii_lowercase + string.digits
URLSAFE = ALNUM + "_-"


def some(rng: random.Random, alphabet: str, size: int) -> str:
    """Random characters with at least two digits and two letters among them."""
    while True:
        made = "".join(rng.choice(alphabet) for _ in range(size))
        if sum(c.isdigit() for c in made) > 1 and len(set(made)) > min(5, size // 3):
            return made


def of(*pieces: str | tuple[str, int]) -> Callable[[random.Random], str]:
    """A maker of values: literal pieces, and (alphabet, size) ones."""

    def make(rng: random.Random) -> str:
        return "".join(p if isinstance(p, str) else some(rng, *p) for p in pieces)

    return make


TOKENS: dict[str, Callable[[random.Random], str]] = {
    "aws id": of("AK" + "IA", (UPPER, 16)),
    "aws session id": of("AS" + "IA", (UPPER, 16)),
    "github classic": of("gh" + "p_", (ALNUM, 36)),
    "github oauth": of("gh" + "o_", (ALNUM, 36)),
    "github app": of("gh" + "s_", (ALNUM, 36)),
    "github fine": of("github_" + "pat_", (ALNUM, 22), "_", (ALNUM, 59)),
    "gitlab": of("gl" + "pat-", (ALNUM, 20)),
    "gitlab runner": of("gl" + "rt-", (ALNUM, 20)),
    "slack bot": of("xo" + "xb-", (string.digits, 12), "-", (ALNUM, 24)),
    "slack user": of("xo" + "xp-", (string.digits, 12), "-", (ALNUM, 24)),
    "slack app": of("xa" + "pp-1-", (UPPER, 11), "-", (HEX, 40)),
    "stripe live": of("sk" + "_live_", (ALNUM, 24)),
    "stripe restricted": of("rk" + "_live_", (ALNUM, 24)),
    "stripe webhook": of("wh" + "sec_", (ALNUM, 32)),
    "anthropic": of("sk" + "-ant-api03-", (URLSAFE, 80), "a1"),
    "openai project": of("sk" + "-proj-", (ALNUM, 48)),
    "openai": of("sk" + "-", (ALNUM, 48)),
    "openrouter": of("sk" + "-or-v1-", (HEX, 64)),
    "huggingface": of("hf" + "_", (ALNUM, 34)),
    "google api": of("AI" + "za", (ALNUM, 35)),
    "google oauth": of("ya" + "29.", (ALNUM, 60)),
    "google client": of("GOC" + "SPX-", (ALNUM, 28)),
    "npm": of("np" + "m_", (ALNUM, 36)),
    "pypi": of("py" + "pi-", (ALNUM, 80)),
    "rubygems": of("ruby" + "gems_", (HEX, 48)),
    "docker": of("dckr" + "_pat_", (ALNUM, 27)),
    "digitalocean": of("dop" + "_v1_", (HEX, 64)),
    "sendgrid": of("S" + "G.", (ALNUM, 22), ".", (ALNUM, 43)),
    "mailgun": of("ke" + "y-", (HEX, 32)),
    "twilio": of("S" + "K", (HEX, 32)),
    "shopify": of("sh" + "pat_", (HEX, 32)),
    "square": of("sq0" + "atp-", (ALNUM, 22)),
    "new relic": of("NR" + "AK-", (UPPER, 27)),
    "sentry": of("snt" + "rys_", (ALNUM, 60)),
    "grafana": of("gl" + "sa_", (ALNUM, 32), "_", (HEX, 8)),
    "linear": of("lin" + "_api_", (ALNUM, 40)),
    "notion": of("nt" + "n_", (ALNUM, 46)),
    "atlassian": of("ATA" + "TT3", (ALNUM, 180)),
    "figma": of("fi" + "gd_", (ALNUM, 40)),
    "airtable": of("pa" + "t", (ALNUM, 14), ".", (HEX, 64)),
    "vercel": of("vc" + "p_", (ALNUM, 56)),
    "netlify": of("nf" + "p_", (ALNUM, 40)),
    "supabase": of("sb" + "p_", (HEX, 40)),
    "planetscale": of("pscale" + "_tkn_", (ALNUM, 43)),
    "databricks": of("da" + "pi", (HEX, 32)),
    "vault": of("hv" + "s.", (ALNUM, 90)),
    "terraform": of((ALNUM, 14), ".atlas" + "v1.", (ALNUM, 64)),
    "doppler": of("dp" + ".pt.", (ALNUM, 43)),
    "pulumi": of("pu" + "l-", (HEX, 40)),
    "age": of("AGE-SECRET" + "-KEY-1", (UPPER, 58)),
    "groq": of("gs" + "k_", (ALNUM, 52)),
    "xai": of("xa" + "i-", (ALNUM, 80)),
    "perplexity": of("pp" + "lx-", (ALNUM, 48)),
    "replicate": of("r" + "8_", (ALNUM, 37)),
    "postman": of("PM" + "AK-", (HEX, 24), "-", (HEX, 34)),
    "dynatrace": of("dt0" + "c01.", (UPPER, 24), ".", (UPPER, 64)),
    "buildkite": of("bk" + "ua_", (HEX, 40)),
    "tailscale": of("ts" + "key-auth-", (ALNUM, 12), "-", (ALNUM, 32)),
    "prefect": of("pn" + "u_", (ALNUM, 36)),
    "telegram": of((string.digits, 9), ":A" + "A", (ALNUM, 33)),
    "azure ad": of((ALNUM, 3), "8" + "Q~", (ALNUM, 34)),
    "jwt": of("ey" + "J", (ALNUM, 20), ".ey" + "J", (ALNUM, 40), ".", (ALNUM, 43)),
}

CONTEXTS: dict[str, Callable[[str], str]] = {
    "alone": lambda v: v,
    "environment": lambda v: f"PATH=/usr/bin\nSOME_VALUE={v}\nLANG=C",
    "json": lambda v: json.dumps({"user": "ada", "value": v, "n": 3}),
    "yaml": lambda v: f"deploy:\n  value: {v}\n  retries: 3\n",
    "prose": lambda v: f"I used ({v}) for the deploy, then removed it.",
}


@pytest.mark.parametrize("kind", TOKENS)
def test_each_kind_in_each_context(kind: str) -> None:
    redactor = Redactor.shipped()
    rng = random.Random(kind)
    for name, context in CONTEXTS.items():
        value = TOKENS[kind](rng)
        shown = redactor.text(context(value))
        assert value not in shown, (name, shown)
        assert value[6:] not in shown, (name, shown)
        assert "[redacted:" in shown


SECRETS = [
    ("password", "DB_PASSWORD={}", of((ALNUM, 14))),
    ("quoted", "export API_SECRET='{}'", of((ALNUM, 20))),
    ("json", '{{"client_secret": "{}", "id": 1}}', of((ALNUM, 30))),
    ("json escaped", '{{\\"access_token\\": \\"{}\\"}}', of((ALNUM, 30))),
    ("yaml", "redis:\n  password: {}\n", of((ALNUM, 12))),
    ("toml", 'api_key = "{}"', of((HEX, 32))),
    ("camel", 'const apiKey = "{}";', of((ALNUM, 32))),
    ("url", "postgres://app:{}@db.internal:5432/app", of((ALNUM, 12))),
    ("url token", "https://x-access-token:{}@github.com/a/b.git", of((ALNUM, 40))),
    ("redis url", "redis://:{}@cache:6379/0", of((ALNUM, 16))),
    ("bearer", "Authorization: Bearer {}", of((ALNUM, 32))),
    ("basic", "authorization: Basic {}==", of((ALNUM, 30))),
    ("curl", "curl -u deploy:{} https://ci.example.org", of((ALNUM, 12))),
    ("flag", "mytool --password {} --verbose", of((ALNUM, 12))),
    ("flag =", "mytool --api-key={} run", of((ALNUM, 24))),
    ("sshpass", "sshpass -p {} ssh root@box", of((ALNUM, 10))),
    ("mysql", "mysql -h db -u root -p{} app", of((ALNUM, 10))),
    ("azure", "AccountName=x;AccountKey={}==;Suffix=core", of((ALNUM, 86))),
    ("connection", "Server=db;User Id=sa;Password={};Encrypt=true", of((ALNUM, 12))),
    ("prose", "the secret {} is for staging", of((ALNUM, 40))),
    ("prose key", "my api key: {}", of((ALNUM, 32))),
    ("german", "das Passwort ist {}", of((ALNUM, 14))),
    ("chinese", "密码是 {} 请保密", of((ALNUM, 24))),
    ("header", "X-Api-Key: {}", of((ALNUM, 32))),
    ("cookie", "Set-Cookie: {}", of((ALNUM, 40))),
    (
        "slack hook",
        "https://hooks.slack.com/services/{}",
        of("T", (UPPER, 8), "/B", (UPPER, 8), "/", (ALNUM, 24)),
    ),
    ("discord hook", "https://discord.com/api/webhooks/123456789012345678/{}", of((ALNUM, 68))),
]


@pytest.mark.parametrize(("name", "form", "make"), SECRETS, ids=[s[0] for s in SECRETS])
def test_named_secrets(name: str, form: str, make: Callable[[random.Random], str]) -> None:
    rng = random.Random(name)
    for _ in range(5):
        value = make(rng)
        shown = Redactor.shipped().text(form.format(value))
        assert value not in shown, shown


def test_private_keys_over_lines_and_escaped() -> None:
    rng = random.Random(1)
    body = "\n".join(some(rng, ALNUM, 64) for _ in range(6))
    for kind in ("RSA PRIVATE KEY", "PRIVATE KEY", "OPENSSH PRIVATE KEY", "EC PRIVATE KEY"):
        text = f"-----BEGIN {kind}-----\n{body}\n-----END {kind}-----"
        for form in (text, json.dumps({"k": text}), f"before\n{text}\nafter"):
            shown = Redactor.shipped().text(form)
            assert body[:30] not in shown
            assert body[-30:] not in shown
    torn = Redactor.shipped().text(f"-----BEGIN PRIVATE KEY-----\n{body}")
    assert body[-30:] not in torn


def test_split_and_encoded_tokens() -> None:
    rng = random.Random(2)
    token = TOKENS["github classic"](rng)
    for joiner in ('" +\n  "', "\\\n", "' + '", '"\n    "'):
        text = f'x = "{token[:20]}{joiner}{token[20:]}"'
        assert token[22:] not in Redactor.shipped().text(text), joiner
    for before in ("", "a=", "a b="):
        blob = base64.b64encode(f"{before}{token} more".encode()).decode()
        assert blob not in Redactor.shipped().text(f"data: {blob}")


LOOK_ALIKES = [
    "commit 3f9c2ab87dddfe1047aa0b1c2d3e4f5061728394",
    "[main 81d0e77] Escape titles in feed",
    "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    '"integrity": "sha512-b2Jz+Qe8k5p0Y9n1a7d3rVQxw4mLh6tUzSgC/FoIiEjNkPvRyXsTqWcBuDlAfGhMJ"',
    "trace_id=4bf92f3577b34da6a3ce929d0e0e4736 span_id=00f067aa0ba902b7",
    "id: 550e8400-e29b-41d4-a716-446655440000",
    "model: claude-opus-4-6-20260115",
    "session ses_2200dec98ffeAAGsw94tLFVYT6 saved",
    "toolu_01Q8xY2aBcDeFgHiJkLmNoPq",
    "call_9fK2mT7qLw4xVb8nRz3cYh6j",
    "msg_000012345678901234567890abcd",
    "max_tokens=4096 num_tokens: 159277",
    "tokens/s: 9,412,000",
    "token = get_token()",
    "password: str = Field(...)",
    "password = os.environ['DB_PASSWORD']",
    'api_key = os.getenv("OPENAI_API_KEY")',
    "secret: ${{ secrets.DEPLOY_KEY }}",
    "API_KEY=<your-api-key>",
    "TOKEN=xxxxxxxxxxxx",
    "password=changeme",
    "key=lambda x: x.name",
    "sort(key=itemgetter(1))",
    "cache_key = f'{user}:{page}'",
    "primary key: user_id",
    "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True",
    "HF_HOME=/data/hf",
    "GITHUB_TOKEN=$GITHUB_TOKEN",
    "the token bucket holds 100 tokens",
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIB2n ada@laptop",
    "-----BEGIN PUBLIC KEY-----",
    "-----BEGIN CERTIFICATE-----",
    "https://example.org/path?page=2&sort=key",
    "git@github.com:org/repo.git",
    "/shared/kimi-k2.5-int4/model-00001-of-00064.safetensors",
    "flash_attn-2.8.3+cu130torch2.9cxx11abiTRUE-cp312-cp312-linux_x86_64.whl",
    "author: Ada Lovelace <ada@example.org>",
    "secret_santa = pick(names)",
    "The secret is to keep functions small.",
    "authentication failed for user root",
    "password authentication is disabled",
    "skip-list and task-queue are fine",
    "sk-learn-compatible-estimators-are-here",
    "the key findings are in docs/results.md",
    "foreign key constraint fails (`app`.`orders`)",
    "tokenizer=AutoTokenizer.from_pretrained(path)",
    "Bearer tokens are checked in middleware.py",
    "keyword_only_argument_names_are_long_in_here = 12345678",
    "private_key_path: ~/.ssh/id_ed25519",
    "secretsmanager:GetSecretValue",
    "test_password_reset_email_is_sent PASSED",
]


@pytest.mark.parametrize("text", LOOK_ALIKES)
def test_look_alikes_survive(text: str) -> None:
    assert Redactor.shipped().text(text) == text


def test_there_are_enough_of_each() -> None:
    assert len(TOKENS) + len(SECRETS) >= 60
    assert len(LOOK_ALIKES) >= 40


def test_a_tree_masks_by_name_and_by_value() -> None:
    rng = random.Random(3)
    token = TOKENS["huggingface"](rng)
    tree = {"password": "hunter22x", "n": 3, "list": [token, "fine"], "max_tokens": 5, token: 1}
    shown = Redactor.shipped().tree(tree)
    assert shown["password"] == "[redacted:secret]"
    assert shown["n"] == 3
    assert shown["list"] == ["[redacted:huggingface-token]", "fine"]
    assert shown["max_tokens"] == 5
    assert token not in json.dumps(shown)


def test_users_rules_are_added() -> None:
    extra = {
        "tokens": [{"kind": "acme", "starts": ["acme-"], "pattern": "acme-[0-9]{6}"}],
        "allow": ["^AKIA0000"],
    }
    redactor = Redactor.shipped(extra)
    assert redactor.text("use acme-123456 now") == "use [redacted:acme] now"
    assert redactor.text("AK" + "IA0000ABCD1234EFGH") == "AK" + "IA0000ABCD1234EFGH"
    assert redactor.digest() != Redactor.shipped().digest()


@pytest.mark.parametrize("extra", [{"token": []}, {"tokens": [{"kind": "x"}]},
                                   {"allow": ["("]}])  # fmt: skip
def test_wrong_rules_are_a_clear_error(extra: dict[str, object]) -> None:
    with pytest.raises(SettingsError, match=r"redact\.yaml"):
        Redactor.shipped(extra)


@given(st.text(max_size=300))
def test_spans_are_ordered_and_masking_is_idempotent(text: str) -> None:
    redactor = Redactor.shipped()
    spans = redactor.spans(text)
    assert all(a.end <= b.start for a, b in itertools.pairwise(spans))
    assert all(0 <= s.start < s.end <= len(text) for s in spans)
    once = redactor.text(text)
    assert redactor.text(once) == once


_AROUND = [*LOOK_ALIKES, "password=", "secret: ", "key '", "\\\n", '" + "']


@given(st.lists(st.sampled_from(_AROUND), max_size=12),
       st.sampled_from(sorted(TOKENS)), st.integers(0, 99))  # fmt: skip
def test_a_token_is_masked_wherever_it_stands(around: list[str], kind: str, seed: int) -> None:
    token = TOKENS[kind](random.Random(seed))
    text = "\n".join([*around, token, *around])
    assert token not in Redactor.shipped().text(text)
