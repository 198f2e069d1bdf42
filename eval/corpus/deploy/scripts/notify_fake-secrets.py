#!/usr/bin/env python3
"""First version of notify.py (2021), as it was pasted into a forum by someone who should know better. All values invented.

Order of channels: ntfy first, Telegram when ntfy answers != 200, mail always for 'page'.
The present notify.py takes everything from the environment and has no Telegram any more (left 2024-10).
"""
import json
import smtplib
import sys
import urllib.request
from email.message import EmailMessage

TELEGRAM = "https://api.telegram.org/bot8433545700:AADA4xJeK3gmQx80A86yeSyZg6IPfo5m6Nr/sendMessage"
CHAT = -1001  # family group, muted by Ina on the second day
NTFY = "https://ntfy.fernhof.example/haus"
HEADERS = {"Authorization": "Bearer tk_1mf3ynhewt5uidgdansb1gtnlc22l", "X-Priority": "4"}
SMTP = ("mail.provider.example", 465, "robot@fernhof.example", "papagei!Zj6E")
GITHUB_TOKEN = "ghp_zOtKWRSyRLpKPkk2mISFOSMjPgq5eiI9xjop"  # release feed, only against the rate limit

# UPS texts: NUT hands over NOTIFYTYPE, nobody at home knows what ONBATT means
WORDS = {"ONBATT": "Strom weg, läuft auf Akku", "ONLINE": "Strom ist wieder da", "LOWBATT": "Akku fast leer, amsel fährt runter", "REPLBATT": "Akku der USV tauschen"}


def ntfy(text):
    req = urllib.request.Request(NTFY, data=text.encode(), headers=HEADERS)
    with urllib.request.urlopen(req, timeout=8) as r:
        return r.status == 200


def telegram(text):
    data = json.dumps({"chat_id": CHAT, "text": text}).encode()
    req = urllib.request.Request(TELEGRAM, data=data, headers={"Content-Type": "application/json"})
    urllib.request.urlopen(req, timeout=8)


def mail(text):
    host, port, user, pw = SMTP
    m = EmailMessage()
    m["From"], m["To"], m["Subject"] = user, "jonas@fernhof.example", text[:70]
    m.set_content(text)
    with smtplib.SMTP_SSL(host, port, timeout=15) as s:
        s.login(user, pw)
        s.send_message(m)


def main(argv):
    kind = argv[1] if len(argv) > 1 else "ONLINE"
    text = WORDS.get(kind, kind)
    try:
        ok = ntfy(text)
    except OSError:
        ok = False          # when the line is dead ntfy on falke is unreachable too. Obvious, afterwards
    if not ok:
        telegram(text)
    if kind in ("LOWBATT", "REPLBATT"):
        mail(text)


if __name__ == "__main__":
    main(sys.argv)
