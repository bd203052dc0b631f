"""Secrets are found by form, place and randomness; what only looks like one is left alone.

The secrets are put together here from halves: none of them is one, and no scanner should think so.
"""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hydramem.core.config import MemoryConfig
from hydramem.ingest.memories.memory_input import MemoryInput
from hydramem.ingest.memories.remember import remember
from hydramem.ingest.screening.quarantine import screen
from hydramem.ingest.screening.secrets import entropy, find_secrets, has_check_digit, mask_secrets
from tests.ingest.conftest import Kit

RANDOM = "q7Zt4Lm9Xc2Vb8Nk3Hs6Wd1Pf5Rj0Yg" + "Tq7Zt4Lm9Xc2Vb8Nk3Hs6W"
BEGIN, END = "-----BEGIN RSA PRIVATE" + " KEY-----", "-----END RSA PRIVATE" + " KEY-----"
BODY = "\n".join("MIIEowIBAAKCAQEA" + RANDOM[:40] for _ in range(3))

SECRET: tuple[tuple[str, str, str], ...] = (
    ("AWS access key", "key {} rotates", "AKIA" + "Q7ZT4LM9XC2VB8NK"),
    ("GitHub token", "use {}", "ghp_" + RANDOM[:36]),
    ("GitHub token", "use {}.", "github_pat_" + (RANDOM * 2)[:82]),
    ("GitLab token", "{}", "glpat-" + RANDOM[:20]),
    ("Slack token", "bot: {}", "xoxb-" + "123456789012-" + RANDOM[:24]),
    ("OpenAI key", "OPENAI {}", "sk-proj-" + RANDOM[:48]),
    ("OpenAI key", "{}", "sk-" + RANDOM[:48]),
    ("Anthropic key", "{}", "sk-ant-api03-" + RANDOM[:48]),
    ("Stripe key", "({})", "sk_live_" + RANDOM[:24]),
    ("Google key", "{}", "AIza" + RANDOM[:35]),
    ("npm token", "{}", "npm_" + RANDOM[:36]),
    ("Hugging Face token", "{}", "hf_" + RANDOM[:34]),
    ("SendGrid key", "{}", "SG." + RANDOM[:22] + "." + RANDOM[:43]),
    ("JSON web token", "cookie {}", "eyJhbGciOiJIUzI1NiJ9" + ".eyJzdWIiOiIxMjM0NTY3ODkwIn0." + RANDOM[:43]),
    ("password in a URL", "postgres://billing:{}@db.example.org:5432/main", "S3cr" + "3t-Pw!x"),
    ("password in a URL", "redis://:{}@cache:6379", "q7Zt4Lm9"),
    ("authorization header", "curl -H 'Authorization: Bearer {}' https://x.example", RANDOM),
    ("password", "password: {}", "Summer" + "2024!"),
    ("password", "The wifi password is {}", "Blue7" + "Horse"),
    ("password", "DB_PASSWORD={}", "p4ss" + "w0rdX"),
    ("password", "Passwort: {}", "Sommer" + "2024"),
    ("password", '"password": "{}"', "x9!kLm" + "22"),
    ("secret value", "API_KEY={}", RANDOM[:32]),
    ("secret value", 'client_secret = "{}"', RANDOM[:40]),
    ("secret value", "secret_key: {}", RANDOM[:24]),
    ("password", "The password of the NAS is {}", "Herbst!" + "Laub9"),
    ("password", "root password on web-1 changed to {} today", "9fK!" + "2pLx"),
    ("password", "use {} as the password for the demo", "hunt" + "er22x"),
    ("password", "пароль от сервера: {}", "Zima" + "2024!"),
    ("PIN", "my PIN for the bank card is {}", "48" + "31"),
    ("secret value", "The token for the bot is {}", RANDOM[:40]),
    ("secret value", "DISCORD={}", RANDOM[:24] + ".GhX2kL." + RANDOM[4:31]),
    ("card number", "my Visa is {}", "4111 1111 " + "1111 1111"),
    ("card number", "Amex {} belongs to us", "3782822" + "46310005"),
    ("recovery phrase", "seed phrase: {}.", "legal winner thank year wave sausage " * 2 + "worth"),
    ("private key", "{}", f"{BEGIN}\n{BODY}\n{END}"),
    ("private key", "cut off: {}", f"{BEGIN}\n{BODY}"),
    ("private key", '{{"key": "{}"}}', f"{BEGIN}\\n{BODY[:56]}\\n{END}"),
)

NONE = (
    "The password policy asks for twelve characters.",
    "password: required",
    "password = getpass.getpass()",
    "PASSWORD=${DB_PASSWORD}",
    "api_key = os.environ['API_KEY']",
    "api_key: your-api-key-here-1234567890",
    "token: 42 tokens remain",
    "The token count is 4096 and the secret santa is Bob2.",
    "postgres://user:password@localhost/db is the example of the manual",
    "https://example.org:8080/path@2024",
    "ssh://git@github.com:22/org/repo.git",
    "commit 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b",
    "sha256 = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'",
    "password_hash = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'",
    "The header '-----BEGIN PRIVATE" + " KEY-----' opens the file.",
    "sk-" + "learn-is-the-short-name-of-a-library",
    "id 550e8400-e29b-41d4-a716-446655440000",
    "the secret of good bread is time",
    "token_limit: 12345678901234567890abcdef",
    "Bearer of bad news",
    "The order number is 4000 1234 5678 9010 and the tracking number 00340434161094042557.",
    "4111111111111111 rows were read",
    "The PIN is set by the customer at first use.",
    "The password must have at least 8 characters, one digit and one symbol.",
    "password_hash = generate_password_hash(request.json)",
    "The password field has id pw-input-2 in the form.",
    "The recovery words are written on paper and kept in the safe.",
)


@pytest.mark.parametrize(("kind", "around", "secret"), SECRET)
def test_secrets_are_found_and_masked_whole(kind: str, around: str, secret: str) -> None:
    text = f"Note. {around.format(secret)} Bye."
    found = find_secrets(text)
    assert kind in [one.kind for one in found]
    masked = mask_secrets(text, found)
    assert secret not in masked
    assert RANDOM[:16] not in masked
    assert f"[masked: {kind}]" in masked
    assert masked.startswith("Note. ")
    assert masked.endswith("Bye.")
    assert find_secrets(masked) == ()


@pytest.mark.parametrize("text", NONE)
def test_talk_of_secrets_is_none(text: str) -> None:
    assert find_secrets(text) == ()


def test_secrets_are_masked_unless_they_are_only_to_be_reported() -> None:
    text = "password: Summer" + "2024! and the same again: password: Summer" + "2024!"
    told = screen(text, MemoryConfig(mask_secrets=False))
    assert (told.text, told.state, told.reasons, told.masked) == (text, "active", ("secret: password",), 0)
    masked = screen(text, MemoryConfig())
    assert masked.text == "password: [masked: password]! and the same again: password: [masked: password]!"
    assert (masked.reasons, masked.masked) == (("secret: password",), 2)


def test_card_numbers_have_a_check_digit() -> None:
    assert has_check_digit("4111" + "1111" + "1111" + "1111")
    assert not has_check_digit("4111" + "1111" + "1111" + "1112")


def test_memories_that_differ_in_a_secret_alone_are_one(kit: Kit) -> None:
    stored = [
        remember(
            MemoryInput(text=f"The password of the NAS is {secret}"),
            target=kit.target(),
            settings=MemoryConfig(),
        )
        for secret in ("Herbst!" + "Laub9", "Winter!" + "Eis7")
    ]
    assert [each.created for each in stored] == [True, False]
    assert stored[0].id == stored[1].id
    assert kit.texts() == ["The password of the NAS is [masked: password]"]


@given(st.text(max_size=200))
def test_masking_touches_nothing_else(text: str) -> None:
    found = find_secrets(text)
    assert all(0 <= one.start < one.end <= len(text) for one in found)
    assert all(before.end <= after.start for before, after in pairwise(found))
    assert mask_secrets(text, ()) == text


def test_entropy_is_in_bits() -> None:
    assert entropy("aaaa") == 0
    assert entropy("abcd") == 2
