"""Secrets by the place they stand in: logins, locks, tables, routers' settings, addresses, the line after a label."""

from __future__ import annotations

from pathlib import Path

import pytest

from brainkit.errors import SettingsError
from brainkit.scrub import Scrubber, scrub

WORDED = "birke-" + "nebel-4711"
CHOSEN = "Holunder" + "_3b!7"
PLAIN = "Folien" + "stift"
NAMED = "Himbeere" + "2023"
CODE = "47" + "19"
DIALLED = "3-7-" + "1-9"
HEX = "1028d66426293e82" * 2

GONE = {
    WORDED: """
        The PPPoE password is "{}"
        WLAN-Schlüssel: {}
        Passwort {}
        password {} for the guest account
        the password is {}, nobody changed it
        Passwort → {}
        <table><tr><th>User</th><th>Password</th></tr><tr><td>ina</td><td>{}</td></tr></table>
        <table><tr><td>Password</td><td>{}</td></tr></table>
        <dl><dt>Passwort</dt><dd>{}</dd></dl>
        ina : EAP "{}"
        : PSK "{}"
        client switch { secret = {} }
    """,
    CHOSEN: """
        IPMI: admin / {}
        log in with admin / {} and go on
        Zugangsdaten Elternportal: mlindner / {}
        cam1 10.20.0.81/admin/{}
        Netflix moved, password {} since January
        ssh,pve2,root,{},10.20.0.12
        TeamViewer 123 456 789 / {}
        enable secret {}
        username ina privilege 15 secret 0 {}
        radius-server host 10.0.0.1 key {}
        crypto isakmp key {} address 198.51.100.7
        createUser monitor SHA "{}" AES
        snmp-server user ina grp v3 auth sha {} priv aes 128 x
        MONITOR ups@localhost 1 monuser {} master
        ConvertTo-SecureString "{}" -AsPlainText -Force
        '{}' | ConvertTo-SecureString -AsPlainText -Force
        Environment="A_USER=prom" "A_PASS={}"
        <Password> <Value>{}</Value> <PlainText>true</PlainText> </Password>
        <Key>Password</Key> <Value ProtectInMemory="True">{}</Value>
        <name>dbPassword</name><value>{}</value>
        {"name":"password","value":"{}","type":1}
        Sicherheitsfrage (Geburtsort) beantwortet mit {}
        old one was {}, still valid on the second switch
        https___ina_{}@git.example.org
        use {} as the password.
        mit {} als Passwort anmelden
        root password changed from {} to another
        printf '{}' | docker secret create db_password -
        echo -n "{}" > /run/secrets/db_password
        restic -r sftp:x --password-command 'echo {}'
        INSERT INTO users (name, password) VALUES ('ina', '{}');
    """,
    NAMED: """
        BIOS-Passwort {}
        neues Passwort {} gesetzt
        Backlog SSID1 heim; MqttPassword {}
        Server=db;User Id=sa;Password={};Encrypt=true
        Log in as admin with {}
        WLAN: Heimnetz, Key {}
    """,
    PLAIN: """
        Passwort = {}
        Codewort: {}
        wifi password: {}
        Das Passwort lautet <code>{}</code>
        ssh root@10.0.0.5 (pw: {})
        define('DB_PASSWORD', '{}');
        jdbc:mysql://db/x?user=ina&password={}
        ENV DB_PASSWORD {}
        #define WIFI_PSK "{}"
        neighbor 10.0.0.1 password {}
        requirepass {}
        wget --http-user=ina --http-password={} -r https://fotos.example.org/
        password: &anchor {}
    """,
    CODE: """
        Schlüsselkasten-Code {}
        Schlüsselkasten: {}
        Alarmanlage scharf/unscharf mit {}
        Haustür: Code {}
        Türcode Vorderhaus {}
        Front door keypad: {} then the bell
        Fahrradschloss: {}
        Key safe {} by the door
        Mailbox abhören, Geheimzahl {}
        SIM-Karte PIN1 {}
        Garagentor öffnet mit {}
        Garage: {} eintippen
        Abholcode {}
    """,
    DIALLED: """
        the lock opens with {}
        das Schloss öffnet mit {}
        padlock {}
    """,
    HEX: """
        hue bridge user {}
        s2_access_control: "{}"
        https://calendar.google.com/calendar/ical/x%40gmail.com/private-{}/basic.ics
        Authorization: Digest username="admin", realm="Cam", nonce="0", uri="/x", response="{}"
        API-Token aus dem Profil: {}
    """,
}

KEPT = """
    The garage door was set to 1200 mm.
    alarm is set to 7000
    Schlüsselkasten mit 1200 Haken
    Haustür 2100 x 900
    keypad on GPIO 1234
    alarm threshold code 4711 means low battery
    Fahrradschloss 2023 gekauft
    Passwort-Manager Bitwarden2
    password KeePass2 database
    password min-length-12
    password sha256 hashes
    admin / user roles
    NAS / Backup-2024
    backup / restore-2024
    switch GS108 / port-12
    WLAN: FritzBox7590 / Repeater1200
    VPN wg0 / 10.0.0.1/24
    log in as root with tmux2
    Das Passwort lautet anders
    forgot password: click
    PASSWORD=Passwort
    self.password = password
    export PASSWORD=`cat /run/key`
    POSTGRES_PASSWORD=${POSTGRES_PASSWORD:?set it in .env}
    PASSWORD_HASHER: argon2
    smtp_sasl_password_maps: hash:/etc/postfix/sasl
    wpa_key_mgmt=WPA-PSK
    token: identifier
    <td>token: abstract</td>
    <tr><td>Password</td><td>Required</td></tr>
    <dl><dt>password</dt><dd>string</dd></dl>
    INSERT INTO settings (name, value) VALUES ('theme', 'dark-mode-2');
    INSERT INTO users (name, password) VALUES ('ina', :password);
    enable password encryption
    deploy key fingerprint: SHA256:uNiVztksCsDhcc0u9e8BgrJXVGDnsTyfhUtlbbEzxyz
    secret rotation in commit: 60de18dcba3f0e82a2ea0a8d9643e6697c56b6e4
    https://docs.example.org/webhooks/introduction-to-webhooks
    https___example.org_path@2x.png
    CVE-2024-3811
    the old one is 12V-5A
    echo "DB_PASSWORD is set" > /tmp/log
    use bcrypt as the password hash
    kubectl create secret generic x --from-literal=key="access-secret-key"
    passphrase: see the note in the safe
"""


def _lines(texts: str) -> list[str]:
    return [line.strip() for line in texts.splitlines() if line.strip()]


@pytest.mark.parametrize(("text", "secret"), [(text, s) for s, texts in GONE.items() for text in _lines(texts)])
def test_what_stands_in_a_secrets_place_goes(text: str, secret: str) -> None:
    before, after = text.split("{}")
    for frame in ("{}", "# Notes\n\n{}\n\nMore prose.\n"):
        start, end = frame.split("{}")
        out = scrub(start + before + secret + after + end).text
        assert out.startswith(start + before + "[REDACTED:")
        assert out.endswith(after + end)
        assert secret not in out


@pytest.mark.parametrize("text", _lines(KEPT))
def test_what_only_looks_like_it_stays(text: str) -> None:
    for framed in (text, f"# Notes\n\n{text}\n\nMore prose.\n"):
        assert scrub(framed).text == framed


@pytest.mark.parametrize(
    "text",
    [
        "Password for the scanner share:\n\n    {}\n",
        "## Admin-Passwort Unifi\n\n{}\n",
        "[14:02] Jana: was war das admin passwort vom wiki\n[14:03] Tom: {}\n[14:03] Jana: danke\n",
        "NAS Keller\nuser tom\npw {}\nip 10.20.0.5\n",
        "site;user;password\nnas;ina;{}\n",
        "folder,login_username,login_password\nHaus,ina,{}\n",
        "| Dienst | Benutzer | Passwort |\n|---|---|---|\n| NAS | ina | {} |\n",
        '# /etc/ppp/chap-secrets\n"h123@isp.example" * "{}" *\n',
        "tacacs server ISE1\n address ipv4 10.20.0.70\n key {}\n",
        "insert into users (name, password) values\n  ('a', NULL),\n  ('b', '{}');\n",
    ],
)
def test_a_value_on_a_line_of_its_own_goes(text: str) -> None:
    assert "[REDACTED:" in scrub(text.format(CHOSEN)).text
    assert CHOSEN not in scrub(text.format(CHOSEN)).text


@pytest.mark.parametrize(
    "text", ["## Password\n\nKeePass\n", "What is the password?\nIn KeePass\n", "Passwort:\n\n- siehe Tresor\n"]
)
def test_a_line_after_a_label_that_is_no_value_stays(text: str) -> None:
    assert scrub(text).text == text


def test_any_word_below_password_goes_beside_a_column_of_users_only() -> None:
    with_users = f"| User | Password |\n|---|---|\n| ina | {PLAIN} |\n"
    assert PLAIN not in scrub(with_users).text
    without = "| Setting | Password |\n|---|---|\n| minimum | Twelve |\n"
    assert scrub(without).text == without


def test_words_of_four_letters_are_an_app_password_and_a_sentence_is_not() -> None:
    app = "jtfi ceba " + "ixgn rtnm"
    assert app not in scrub(f'user ina\npassword "{app}"\n').text
    sentence = 'password "that will also work"\n'
    assert scrub(sentence).text == sentence


def test_an_address_whose_slashes_a_file_name_lost_keeps_no_secret() -> None:
    secret = "T0AB12CD3_B0AB12CD3_" + "Zq8r2Lw0Xc7Vb3Nm5Ks1Jd9H"
    assert "Zq8r2Lw0Xc7Vb3Nm" not in scrub(f"https___hooks.slack.com_services_{secret}.md").text


def test_a_rules_file_that_never_ends_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"BOR_SCRUB_RULES = /dev/zero is not a file"):
        Scrubber(rules=Path("/dev/zero"))
    large = tmp_path / "large.toml"
    large.write_text("# " + "x" * 1_100_000)
    with pytest.raises(SettingsError, match="larger than"):
        Scrubber(rules=large)


def test_account_and_card_numbers_stay_unless_asked_for(tmp_path: Path) -> None:
    # DE89 ... is the example of ISO 13616's registry, 4111 ... the card schemes' public test number
    iban, card = "DE89 3704 0044 0532 " + "0130 00", "4111 1111 1111 " + "1111"
    text = f"IBAN {iban}, card {card}"
    assert scrub(text).text == text
    rules = tmp_path / "rules.toml"
    rules.write_text('also = ["iban", "payment-card"]\n')
    asked = Scrubber(rules=rules)
    assert asked.scrub(text).text == "IBAN [REDACTED:iban], card [REDACTED:payment-card]"
    wrong = text.replace("0130 00", "0130 01").replace("1111 1111", "1111 1112")
    assert asked.scrub(wrong).text == wrong
    rules.write_text('also = ["passport"]\n')
    with pytest.raises(SettingsError, match="also takes a list of iban, payment-card"):
        Scrubber(rules=rules)
