"""Every shape of secret goes: vendors' tokens, and a value beside a name in every syntax. All values are made here."""

from __future__ import annotations

import base64
import hashlib
import string
from random import Random

import pytest

from brainkit.scrub import scrub


def made(length: int, alphabet: str = string.ascii_letters + string.digits, seed: int = 7) -> str:
    """A random value with a capital, a small letter and a figure among its first characters."""
    rest = "".join(Random(seed + length).choices(alphabet, k=length - 3))
    heads = [next((c for c in group if c in alphabet), alphabet[0]) for group in ("Qrs", "kvz", "739")]
    return "".join(heads) + rest


HEX = "0123456789abcdef"
LOW = string.ascii_lowercase + string.digits
UP = string.ascii_uppercase + string.digits
B64 = string.ascii_letters + string.digits + "+/"
UUID = "7c0de1a5-93b4-4c6e-8f21-5ad9e07b3c18"
PASSWORD = "Tr0ub4dor" + "&3x"
WEAK = "sunshine" + "42"
WORD = "sword" + "fish"

TOKENS = {
    "github": "gh" + "p_" + made(36),
    "github fine-grained": "github_" + "pat_" + made(22) + "_" + made(59),
    "gitlab": "glp" + "at-" + made(20),
    "aws id": "AK" + "IA" + made(16, UP),
    "slack bot": "xox" + "b-" + "391809548274-4236212766789-" + made(24),
    "stripe": "sk_" + "live_" + made(24),
    "google": "AI" + "za" + made(35),
    "google oauth": "GOC" + "SPX-" + made(28),
    "sendgrid": "SG" + "." + made(22) + "." + made(43),
    "npm": "np" + "m_" + made(36),
    "pypi": "pyp" + "i-AgEIcHlwaS5vcmc" + made(60),
    "docker": "dckr_" + "pat_" + made(27),
    "digitalocean": "dop_" + "v1_" + made(64, HEX),
    "cloudflare": "cf" + "ut_" + made(48),
    "tailscale": "tsk" + "ey-auth-" + made(12) + "-" + made(24),
    "vault": "hv" + "s." + made(95),
    "terraform": made(14) + ".atlas" + "v1." + made(67),
    "grafana": "gl" + "sa_" + made(32) + "_" + made(8, HEX),
    "hugging face": "h" + "f_" + made(34),
    "openai": "sk-" + "proj-" + made(100),
    "anthropic": "sk-" + "ant-api03-" + made(93),
    "groq": "gs" + "k_" + made(52),
    "replicate": "r" + "8_" + made(37),
    "notion": "nt" + "n_" + made(46),
    "linear": "lin_" + "api_" + made(40),
    "figma": "fig" + "d_" + made(40),
    "airtable": "pat" + made(14) + "." + made(64, HEX),
    "shopify": "shp" + "at_" + made(32, HEX),
    "square": "sq0" + "atp-" + made(22),
    "twilio": "S" + "K" + made(32, HEX),
    "mailgun": "key" + "-" + made(32, HEX),
    "mailchimp": made(32, HEX) + "-us" + "14",
    "brevo": "xkey" + "sib-" + made(64, HEX) + "-" + made(16),
    "telegram": "508627689" + ":AA" + made(33),
    "discord bot": "MTk4" + made(20) + "." + made(6) + "." + made(38),
    "doppler": "dp." + "pt." + made(43),
    "databricks": "da" + "pi" + made(32, HEX),
    "new relic": "NR" + "AK-" + made(27, UP),
    "dynatrace": "dt0" + "c01." + made(24, UP) + "." + made(64, UP),
    "sentry": "sntry" + "u_" + made(64, HEX),
    "age": "AGE-SECRET" + "-KEY-1" + made(58, UP),
    "swarm": "SWM" + "TKN-1-" + made(50, LOW) + "-" + made(25, LOW),
    "openshift": "sha" + "256~" + made(43),
    "jwt": "ey" + "J" + made(30) + ".ey" + "J" + made(60) + "." + made(43),
    "supabase": "sb" + "p_" + made(40, HEX),
    "posthog": "ph" + "x_" + made(43),
    "unknown vendor": "zorb" + "_live_" + made(36),
    "bcrypt": "$2" + "y$10$" + made(53, B64.replace("+", ".")),
    "sha512crypt": "$" + "6$" + made(16) + "$" + made(86, B64.replace("+", ".")),
    "argon2": "$argon2" + "id$v=19$m=65536,t=3,p=4$" + made(22, B64) + "$" + made(43, B64),
    "ssha": "{SS" + "HA}" + made(36, B64) + "==",
    "django hash": "pbkdf2_" + "sha256$600000$" + made(22) + "$" + made(43, B64) + "=",
    "scram": "SCRAM-SHA" + "-256$4096:" + made(22, B64) + "==$" + made(43, B64) + "=:" + made(43, B64) + "=",
    "apr1": "$ap" + "r1$" + made(8) + "$" + made(22),
    "plex": "X-Plex-Token=" + made(20),
    "bitlocker": "-".join(str(100000 + 7919 * i)[:6] for i in range(1, 9)),
}

PAIRS = {
    "yaml": ("db_password: {}", PASSWORD),
    "yaml quoted": ('password: "{}"', PASSWORD),
    "yaml word": ("  password: {}\n", WORD),
    "yaml comment": ("password: {}  # the old one", PASSWORD),
    "yaml block": ("password: |\n  {}\nuser: ina\n", PASSWORD),
    "yaml list": ("tokens:\n  - {}\n", made(24)),
    "yaml flow": ("tokens: ['{}']", made(24)),
    "yaml name and value": ("- name: DB_PASSWORD\n  value: {}\n", WEAK),
    "yaml name and quoted value": ('- name: API_TOKEN\n  value: "{}"\n', made(24)),
    "json": ('{{"password": "{}"}}', PASSWORD),
    "json in json": ('"body": "{{\\"password\\": \\"{}\\"}}"', PASSWORD),
    "toml": ('api_key = "{}"', made(32, HEX)),
    "ini": ("[mail]\npassword={}\n", WEAK),
    "ini spaces": ("password = {}\n", WEAK),
    "env": ("DB_PASS={}", WORD),
    "env quoted": ("export RESTIC_PASSWORD='{}'", "two words and " + "more7"),
    "env secret": ("JWT_SECRET={}", "supersecret" + "value"),
    "docker": ("ENV ADMIN_PASSWORD={}", WEAK),
    "docker run": ("docker run -e MYSQL_ROOT_PASSWORD={} mysql", WEAK),
    "flag": ("restic --password {} snapshots", WEAK),
    "flag equals": ("tool --api-token={} run", made(24)),
    "flag quoted": ("tool --password '{}' run", PASSWORD),
    "mysql": ("mysql -u root -p'{}' shop", PASSWORD),
    "sshpass": ("sshpass -p {} ssh nas", WEAK),
    "curl": ("curl -u admin:{} https://nas.example/", WEAK),
    "python": ('conn = connect(user="ina", password="{}")', PASSWORD),
    "python default": ('TOKEN = os.environ.get("API_TOKEN", "{}")', made(24)),
    "python or": ('PASSWORD = os.getenv("PASSWORD") or "{}"', PASSWORD),
    "go": ('apiKey := "{}"', made(32)),
    "ruby": (":password => '{}',", PASSWORD),
    "php": ("define('DB_PASSWORD', '{}');", PASSWORD),
    "xml": ("<password>{}</password>", PASSWORD),
    "xml attribute": ('<user name="x" password="{}"/>', PASSWORD),
    "xml add": ('<add key="Password" value="{}" />', PASSWORD),
    "plist": ("<key>Password</key>\n<string>{}</string>", PASSWORD),
    "markdown bold": ("**Password:** {}", PASSWORD),
    "markdown code": ("Password: `{}`", PASSWORD),
    "markdown table row": ("| Password | {} |\n|---|---|\n", PASSWORD),
    "markdown table column": ("| host | user | password |\n|---|---|---|\n| nas | ina | {} |\n", WEAK),
    "markdown fence": ("```sh\nexport API_TOKEN={}\n```", made(24)),
    "csv": ("site,user,password\nshop.example,ina,{}\n", WEAK),
    "prose": ("The password is {}.", WEAK),
    "prose quoted": ("the wifi password is '{}', as before", WORD),
    "prose changed": ("I changed the root password to {} yesterday", PASSWORD),
    "prose token": ("Here is my Jira token: {}", made(24)),
    "prose next line": ("use the following password to proceed:\n\n{}\n\nthen", made(32, HEX)),
    "german": ("Passwort: {}", WEAK),
    "german kennwort": ("Kennwort = {}", WEAK),
    "german prose": ("Das Passwort lautet {}", WEAK),
    "german quotes": ("Das Passwort ist „{}“.", PASSWORD),
    "login pair": ("Login: admin / {}", WEAK),
    "url": ("postgresql://ina:{}@db.example:5432/shop", "s3cr" + "et"),
    "url word": ("https://user:{}@example.org/", "hun" + "ter"),
    "url with at": ("https://ina@fernhof.example:{}@git.example/x", "p@ss" + "!1"),
    "redis": ("redis://:{}@cache:6379/0", WEAK),
    "query": ("https://api.example/v1?api_key={}&page=2", made(32)),
    "connection string": ("Server=db;Database=x;User Id=sa;Password={};Encrypt=yes", PASSWORD),
    "azure storage": ("AccountName=x;AccountKey={};EndpointSuffix=y", made(86, B64) + "=="),
    "bearer": ('curl -H "Authorization: Bearer {}" https://x.example', made(40)),
    "basic": ("Authorization: Basic {}", base64.b64encode(b"ina:" + PASSWORD.encode()).decode()),
    "api header": ("X-Api-Key: {}", made(32, HEX)),
    "cookie": ("Cookie: theme=dark; sessionid={}", made(32, LOW)),
    "netrc": ("machine git.example login ina password {}", WORD),
    "pgpass": ("db.example:5432:shop:ina:{}\n", WEAK),
    "wifi code": ("WIFI:T:WPA;S:Fernhof;P:{};;", PASSWORD),
    "wpa": ('network={{\n  ssid="Fernhof"\n  psk="{}"\n}}', "correcthorse" + "9"),
    "wireguard": ("[Interface]\nPrivateKey = {}\n", made(43, B64) + "="),
    "totp": ("otpauth://totp/Git:ina?secret={}&issuer=Git", made(32, string.ascii_uppercase + "234567")),
    "seed": ("seed phrase: {}", "legal winner thank year wave sausage worth useful legal winner thank " + "yellow"),
    "recovery codes": ("Recovery codes:\n\n- {}\n- 9f2kd-71mzx\n", "8h3kd" + "-x92mf"),
    "sql": ("CREATE USER 'shop'@'%' IDENTIFIED BY '{}';", WEAK),
    "sql role": ("ALTER ROLE shop WITH PASSWORD '{}';", WEAK),
    "docker auth": (
        '{{"auths": {{"ghcr.io": {{"auth": "{}"}}}}}}',
        base64.b64encode(b"ina:" + made(20).encode()).decode(),
    ),
    "npmrc": ("//registry.example.org/:_authToken={}", UUID),
    "uuid": ("HEROKU_API_KEY={}", UUID),
    "kubeadm": ("kubeadm join --token {} 10.0.0.1:6443", "07401b." + "f395accd246ae52d"),
    "unknown vendor's name": ("frobnicator_api_key = {}", made(32, LOW)),
    "md5 beside password": ("password_md5: {}", hashlib.md5(b"x", usedforsecurity=False).hexdigest()),
    "zigbee": ("network_key: {}", "[" + ", ".join(str(7 * i % 256) for i in range(16)) + "]"),
    "unseal": ("Unseal Key 1: {}", made(43, B64) + "="),
    "chpasswd": ("echo 'ina:{}' | chpasswd", WEAK),
    "aws secret": ("aws_secret_access_key = {}", made(40, B64)),
}


@pytest.mark.parametrize("name", TOKENS)
@pytest.mark.parametrize("frame", ["{}", "value {} end", 'x = "{}"', "`{}`", "- {}\n- next", "({})"])
def test_tokens_go_wherever_they_stand(name: str, frame: str) -> None:
    token = TOKENS[name]
    secret = token.split("=", 1)[1] if name == "plex" else token
    result = scrub(frame.format(token))
    assert secret not in result.text
    assert "[REDACTED:" in result.text
    around = frame.format("\0").split("\0")
    assert result.text.startswith(around[0])
    assert result.text.endswith(around[1])


@pytest.mark.parametrize("name", PAIRS)
def test_values_beside_a_name_go_and_the_name_stays(name: str) -> None:
    frame, secret = PAIRS[name]
    text = frame.format(secret)
    result = scrub(text)
    assert secret not in result.text
    before = frame.format("\0").split("\0")[0]
    assert result.text.startswith(before)
    assert result.text.count("\n") == text.count("\n")
    assert all(secret not in repr(finding) for finding in result.findings)


def pem(kind: str, lines: int = 6) -> tuple[str, list[str]]:
    body = [made(64, B64, seed=i) for i in range(lines)]
    return "\n".join([f"-----BEGIN {kind}-----", *body, f"-----END {kind}-----"]), body


@pytest.mark.parametrize("kind", ["RSA PRIVATE KEY", "PRIVATE KEY", "OPENSSH PRIVATE KEY", "ENCRYPTED PRIVATE KEY"])
@pytest.mark.parametrize("form", ["plain", "indented", "escaped", "quoted lines", "cut off"])
def test_private_keys_go_line_by_line(kind: str, form: str) -> None:
    block, body = pem(kind)
    text = {
        "plain": f"before\n{block}\nafter",
        "indented": "key: |\n" + "\n".join("  " + line for line in block.splitlines()) + "\nafter: 1",
        "escaped": '{"key": "' + block.replace("\n", "\\n") + '"}',
        "quoted lines": "k = (" + "\n".join(f'"{line}\\n"' for line in block.splitlines()) + ")",
        "cut off": "before\n" + "\n".join(block.splitlines()[:4]) + "\n\nafter this, prose",
    }[form]
    result = scrub(text)
    assert not any(line in result.text for line in body)
    assert result.text.count("\n") == text.count("\n")
    assert form != "cut off" or "after this, prose" in result.text


def test_pgp_putty_and_base64_keys_go() -> None:
    block, body = pem("PGP PRIVATE KEY BLOCK")
    assert body[2] not in scrub(block).text
    lines = [made(64, B64, seed=i) for i in range(3)]
    mac = made(40, HEX)
    public = "AAAAB3" + made(58, B64)
    putty = f"PuTTY-User-Key-File-2: ssh-rsa\nPublic-Lines: 1\n{public}\nPrivate-Lines: 3\n" + "\n".join(lines)
    cleaned = scrub(f"{putty}\nPrivate-MAC: {mac}\n").text
    assert not any(line in cleaned for line in (*lines, mac))
    assert public in cleaned
    encoded = base64.b64encode(pem("RSA PRIVATE KEY")[0].encode()).decode()
    assert encoded not in scrub(f"client-key-data: {encoded}").text


def test_kubernetes_secrets_are_decoded_and_judged() -> None:
    def b64(value: str) -> str:
        return base64.b64encode(value.encode()).decode()

    text = f"""apiVersion: v1
kind: Secret
metadata:
  name: shop
data:
  password: {b64(WORD)}
  username: {b64("shop-reader")}
  url: {b64("https://shop.example/")}
  dsn: {b64("postgres://a:b@c/d")}
stringData:
  token: {WORD}
  ref: ${{TOKEN}}
---
kind: ConfigMap
data:
  mode: quick
"""
    cleaned = scrub(text).text
    assert b64(WORD) not in cleaned
    assert WORD not in cleaned
    assert b64("postgres://a:b@c/d") not in cleaned
    for kept in (b64("shop-reader"), b64("https://shop.example/"), "${TOKEN}", "name: shop", "mode: quick"):
        assert kept in cleaned


def test_a_text_that_is_one_bare_token_goes() -> None:
    for token in (made(32, HEX), made(40)):
        assert token not in scrub(f"\n{token}\n").text


def test_a_long_value_goes_to_its_last_character() -> None:
    value = made(9000)
    assert scrub(f"x_token = {value}\nnext").text == "x_token = [REDACTED:token]\nnext"


def test_same_kind_of_marker_and_offsets_of_the_input() -> None:
    text = f"é password: {PASSWORD}\ntoken: {made(24)}"
    result = scrub(text)
    assert [text[f.start : f.end] for f in result.findings] == [PASSWORD, made(24)]
    assert result.text == "é password: [REDACTED:password]\ntoken: [REDACTED:token]"
