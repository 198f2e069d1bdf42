"""Passwords as sentences, tables and little-known settings tell them, and what only looks alike."""

from __future__ import annotations

import pytest

from brainkit.scrub import Scrubber, engine, scrub
from brainkit.scrub.page import Page

TWO = "Rosinen" + "brot 12"
DASHED = "orangutan-" + "lamp-29"
PHRASE = "harvest moon " + "over cellar"
JOINED = "Popcorn_" + "Kino"
SIGNED = "Zaehler" + "stand_5"
PLAIN = "Schraub" + "zwinge"
FIGURES = "7729" + "13"
HEX = "1028d66426293e82" * 4
MODHEX = "-".join(["khuvtvfg", "rcudvghb", "jvbccjlg", "vcchfnfi"] * 2)
BASE64 = "iCBxE6ogQLuikEiiDEPzj0/0Hf+eBj71HMH8NsTe" + "YX8="

GONE = {
    TWO: ["das neue Kennwort fürs Tablet lautet ab heute: {}"],
    DASHED: [
        "I changed the Wi-Fi password to {} yesterday.",
        "Gestern geändert: wir haben das geänderte Passwort auf {} gesetzt",
        "d-i passwd/user-password password {}\n",
        "ina l2tpd {} *\n",
        "# /etc/davfs2/secrets\nhttps://cloud.example.org/dav/ ina {}\n",
        "  user ina insecure-password {}\n",
        "env:\n  - value: {}\n    name: WIKI_ADMIN_PASSWORD\n",
    ],
    PHRASE: ["NAS console (password: {}) works from the inside."],
    JOINED: ["| Login | Password |\n|:--|:--|\n| ina | {} |\n"],
    SIGNED: [
        "| Host | User | PW |\n|---+---+---|\n| r1 | admin | {} |\n",
        "Titel;Benutzername;Kennwort;URL\nStadtwerke;ina;{};https://example.org\n",
        "remoteuser = ina\nremotepass = {}\n",
        'kubectl get secret x -o jsonpath="{{.data.password}}" | base64 -d\n{}\n',
    ],
    PLAIN: ['get("http://nas/status", auth=("admin", "{}"), timeout=5)', "auth=HTTPBasicAuth('ina', '{}')"],
    FIGURES: ["Conference room dial-in, passcode {}#"],
    HEX: ["tls_psk: {}"],
    HEX[:40]: ['todoist = TodoistAPI("{}")'],
    MODHEX: ["systemd-cryptenroll recovery key:\n{}"],
    BASE64: ["echo {} > /etc/wireguard/privatekey"],
    "md5" + HEX[:32]: ['"ina" "{}"'],
}
STAYS = [
    "(password: see vault entry nas)",
    "(Passwort: liegt im Tresor unten)",
    "(password: minimum twelve characters long)",
    "set the password in 2024.",
    "I changed the password to KeePass last week",
    "changed password hashing to argon2id in v2.3",
    "switch the wifi password in Fritz7590 menu",
    "updated password policy to NIST-800-63b",
    "Passwort geändert auf Wunsch von Jonas am 12.03.2024",
    "| Login | Password |\n|---|---|\n| ina | See_Vault |\n| eva | Not_Set |",
    " user | password \n------+----------\n ina  | see vault",
    "auth=('user', 'password')",
    "passcode 6 digits",
    "the passcode 2024 season",
    "env:\n- value: /run/secrets/db\n  name: DB_PASSWORD",
    "nobody:*:19700:0:99999:7:::",
    "Authorization: Bearer eyJhbGciOi...",
    "password_arn: arn:aws:secretsmanager:eu-central-1:471203998812:secret:nest/db-Ab3xYz",
    'data-sitekey="6LhE-yywyrCRSyRbGlB8eAn_QbaOdTmHXZh7tWRq"',
    "VAPID_PUBLIC_KEY=Bf2_VC_cbrWr2wcs0ReJgnaDZfdOwgMGirBsBeA5zDeHVS75EoZhZN4s08__BB-DDoIaVvp4qCtTzErpUar6szU",
]


@pytest.mark.parametrize(("secret", "text"), [(s, t) for s, texts in GONE.items() for t in texts])
def test_what_is_told_is_gone(secret: str, text: str) -> None:
    out = scrub(text.format(secret)).text
    assert secret not in out
    assert "[REDACTED:" in out


@pytest.mark.parametrize("text", STAYS)
def test_what_looks_alike_stays(text: str) -> None:
    assert scrub(text).text == text


@pytest.mark.parametrize("text", [*STAYS, *(t.format(s) for s, texts in GONE.items() for t in texts)])
def test_a_short_text_is_judged_as_a_long_one(text: str) -> None:
    """The quick look at titles passes only what all detectors pass."""
    if engine._nothing(Page(text)):
        assert not Scrubber().scrub(text + "\n" + " ." * 200).findings
