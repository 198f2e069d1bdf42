#!/usr/bin/env python3
# Tags for new Paperless documents. The built-in classifier is fine for correspondents and hopeless for "steuer 2025".
# Rules are in this file and not in the UI, because UI matching has no "and not".
import os
import re

import requests

BASE = "https://akten.lan.fernhof.example/api"
S = requests.Session()
S.headers["Authorization"] = f"Token {os.environ.get('PAPERLESS_TOKEN', '')}"
S.headers["Accept"] = "application/json; version=9"

INBOX = "neu"
RULES = [
    # (regex on the text, regex that must NOT match, tags)
    (r"Handwerkerrechnung|Arbeitskosten|Lohnanteil", r"Angebot|Kostenvoranschlag", ["steuer-{y}", "35a"]),
    (r"Wärmepumpe|Kältemittel|R290", None, ["heizung"]),
    (r"Zählerstand|Abschlagszahlung|Stadtwerke", None, ["strom"]),
    (r"Elternbeitrag|Hortvertrag|Schulgeld", None, ["kinder", "steuer-{y}"]),
    (r"Garantie(karte|zeit)|Gewährleistung", r"Versicherung", ["garantie"]),
    (r"Zuwendungsbestätigung|Spendenquittung", None, ["steuer-{y}", "spende"]),
    (r"(?i)kaufvertrag|notar", None, ["haus", "niemals-loeschen"]),
]


def tags_for(text, created):
    """tax year = year of the document, except January papers that speak of last year (Zuwendungen come in January)"""
    year = int(created[:4])
    if created[5:7] == "01" and re.search(rf"\b(für|Kalenderjahr|Jahr)\s+{year - 1}\b", text):
        year -= 1
    out = set()
    for yes, no, tags in RULES:
        if re.search(yes, text) and not (no and re.search(no, text)):
            out |= {t.format(y=year) for t in tags}
    return out


def all_pages(url, **params):
    while url:
        r = S.get(url, params=params, timeout=30)
        r.raise_for_status()
        j = r.json()
        yield from j["results"]
        url, params = j["next"], {}


def main():
    ids = {t["name"]: t["id"] for t in all_pages(f"{BASE}/tags/", page_size=250)}
    for d in all_pages(f"{BASE}/documents/", tags__id__all=ids[INBOX], page_size=50):
        want = tags_for(d["content"] or "", d["created"])
        missing = want - ids.keys()
        for name in missing:       # steuer-2027 in the first January days
            ids[name] = S.post(f"{BASE}/tags/", json={"name": name}, timeout=30).json()["id"]
        if not want:
            print("nothing for", d["id"], d["title"])
            continue               # stays in the inbox, I look at it
        new = sorted((set(d["tags"]) | {ids[t] for t in want}) - {ids[INBOX]})
        S.patch(f"{BASE}/documents/{d['id']}/", json={"tags": new}, timeout=30).raise_for_status()
        print(d["id"], d["title"], "->", ", ".join(sorted(want)))


if __name__ == "__main__":
    main()
