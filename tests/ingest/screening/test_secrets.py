"""Secrets are found by form, place and randomness; what only looks like one is left alone.

The secrets are put together here from halves: none of them is one, and no scanner should think so.
"""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hydramem.core.config import MemoryConfig
from hydramem.ingest.screening.quarantine import screen
from hydramem.ingest.screening.secrets import find_secrets, mask_secrets
from tests.examples import FEW
from tests.ingest.conftest import Kit

RANDOM = "q7Zt4Lm9Xc2Vb8Nk3Hs6Wd1Pf5Rj0Yg" + "Tq7Zt4Lm9Xc2Vb8Nk3Hs6W"
BEGIN, END = "-----BEGIN RSA PRIVATE" + " KEY-----", "-----END RSA PRIVATE" + " KEY-----"
BODY = "\n".join("MIIEowIBAAKCAQEA" + RANDOM[:40] for _ in range(3))

SECRET: tuple[tuple[str, str, str], ...] = (
    ("AWS access key", "key {} rotates", "AKIA" + "Q7ZT4LM9XC2VB8NK"),
    ("GitHub token", "use {}", "ghp_" + RANDOM[:36]),
    ("GitLab token", "{}", "glpat-" + RANDOM[:20]),
    ("Slack token", "bot: {}", "xoxb-" + "123456789012-" + RANDOM[:24]),
    ("OpenAI key", "OPENAI {}", "sk-proj-" + RANDOM[:48]),
    ("Anthropic key", "{}", "sk-ant-api03-" + RANDOM[:48]),
    ("Stripe key", "({})", "sk_live_" + RANDOM[:24]),
    ("Google key", "{}", "AIza" + RANDOM[:35]),
    ("Hugging Face token", "{}", "hf_" + RANDOM[:34]),
    ("JSON web token", "cookie {}", "eyJhbGciOiJIUzI1NiJ9" + ".eyJzdWIiOiIxMjM0NTY3ODkwIn0." + RANDOM[:43]),
    ("password in a URL", "postgres://billing:{}@db.example.org:5432/main", "S3cr" + "3t-Pw!x"),
    ("authorization header", "curl -H 'Authorization: Bearer {}' https://x.example", RANDOM),
    ("password", "password: {}", "Summer" + "2024!"),
    ("password", "The wifi password is {}", "Blue7" + "Horse"),
    ("password", '"password": "{}"', "x9!kLm" + "22"),
    ("secret value", 'client_secret = "{}"', RANDOM[:40]),
    ("password", "The password of the NAS is {}", "Herbst!" + "Laub9"),
    ("password", "root password on web-1 changed to {} today", "9fK!" + "2pLx"),
    ("password", "пароль от сервера: {}", "Zima" + "2024!"),
    ("secret value", "The token for the bot is {}", RANDOM[:40]),
    ("secret value", "DISCORD={}", RANDOM[:24] + ".GhX2kL." + RANDOM[4:31]),
    ("card number", "my Visa is {}", "4111 1111 " + "1111 1111"),
    ("recovery phrase", "seed phrase: {}.", "legal winner thank year wave sausage " * 2 + "worth"),
    ("private key", "{}", f"{BEGIN}\n{BODY}\n{END}"),
    ("private key", "cut off: {}", f"{BEGIN}\n{BODY}"),
    ("password", "后台的密码是 {}。", "Zhulin@" + "2931xq"),
    ("password", "كلمة المرور: {}", "Zahra@" + "4410"),
    ("password", "user web01, pw {}", "marmalade-" + "Kite-260"),
    ("password", "login for the shop is marta / {}", "Blau$" + "Segel19"),
    ("password", 'my passphrase is "{}"', "violet tractor " + "humble lantern"),
    ("password", "the app password is: {}", "qwzx plmk " + "tbvn rtyu"),
    ("password", "ADMIN_PASSWORD={}", "rhubarb.Cello" + ".55"),
    ("password", "gpg --passphrase '{}' -c f", "Ziegel&" + "Dach7"),
    ("password", "curl -u api:{} https://api.example.org", "hG7#" + "kk2Lq"),
    ("password", "pgpass:\ndb.example.org:5432:shop:rw:{}\n", "Nuthatch_" + "44x"),
    ("password in a URL", "mongodb+srv://rw:{}@cluster0.example.net/x", "Awmg7Wh" + "mCuRm"),
    ("token in a URL", "DSN https://{}@o1.ingest.example.io/4505", RANDOM[:32].lower()),
    ("bearer token", "sent Bearer {} by mistake", RANDOM[:32]),
    ("signed URL", "https://x.example/c?sv=2022&sig={}", RANDOM[:32] + "%3D"),
    ("secret of a URL", "https://chat.example.org/hooks/{}", RANDOM[:26]),
    ("secret value", 'client.login("{}")', RANDOM[:26] + ".G4bfEY." + RANDOM[3:40]),
    ("secret value", "Unseal shard two, held by me: {}", RANDOM[:30] + "+/" + RANDOM[5:12]),
    ("prefixed key", "we saw txl_live_{} there", RANDOM[:32]),
    ("recovery key", "it is {}", "-".join(("340212", "993432", "380286", "000085") * 2)),
    ("recovery code", "GitHub recovery codes, print them: {}", "875ed-" + "ae088"),
    ("card number", '{{"pan":"{}","amount":1299}}', "4111111" + "111111111"),
    ("private key", "the end of it:\n{}", f"{BODY}\n{END}"),
    ("private key", '{{"key": "{}"}}', f"{BEGIN}\\n{BODY[:56]}\\n{END}"),
)

NONE = (
    "The password policy asks for twelve characters.",
    "password = getpass.getpass()",
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
    "The order number is 4000 1234 5678 9010 and the tracking number 00340434161094042557.",
    "4111111111111111 rows were read",
    "The password field has id pw-input-2 in the form.",
    "Session key exchange uses X25519MLKEM768Draft00 now",
    "the key is 2024-Q3-Report-Final-v2",
    "https://git.example.org/token-lib/commit/a5ac7e51b41094c92402da3b24376905380afc29",
    "pass `override=True` to load_dotenv, or pass two arguments: `foo-1` and `bar-2`",
    "password = base64.b16encode(given)",
    "AWS's own example is " + "AKIA" + "IOSFODNN7EXAMPLE, which does not work",
    "Expired test token: eyJhbGciOiJub25lIn0.eyJzdWIiOiJ0ZXN0IiwiZXhwIjoxfQ.",
    "the key of the picture is iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ",
    "The public key is ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIsclOUHpy86MZgsdTFvbMYWgP2OAXpAKbeRvu3T35Q4x",
    'The dialog on the password says: "it must be longer than eight"',
    "user=kai password=******** ip=192.0.2.9",
    "door code changes every 90 days; the gate opens at 0700",
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


def test_memories_that_differ_in_a_secret_alone_are_one(kit: Kit) -> None:
    secrets = ("Herbst!" + "Laub9", "Winter!" + "Eis7")
    stored = [kit.remember(f"The password of the NAS is {secret}") for secret in secrets]
    assert [each.created for each in stored] == [True, False]
    assert stored[0].id == stored[1].id
    assert kit.texts() == ["The password of the NAS is [masked: password]"]


@FEW
@given(st.text(max_size=200))
def test_masking_touches_nothing_else(text: str) -> None:
    found = find_secrets(text)
    assert all(0 <= one.start < one.end <= len(text) for one in found)
    assert all(before.end <= after.start for before, after in pairwise(found))
    assert mask_secrets(text, ()) == text
