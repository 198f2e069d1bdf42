#!/usr/bin/env python3
"""Rechnungen umbenennen: "Rechnung (3).pdf" -> "2025-03-14 Dachdecker Möbius RE-25-0871 1284,50.pdf"

Läuft über pdftotext. Ohne --los wird nur angezeigt.
Warum kein Paperless-Format dafür: das Finanzamt wollte 2024 einen Ordner auf USB-Stick, nicht mein Paperless.
"""
import re
import subprocess
import sys
from pathlib import Path

MONATE = "Januar Februar März April Mai Juni Juli August September Oktober November Dezember".split()

NUMMER = [
    # Reihenfolge zählt. "Rechnungsnr." vor "Nr.", sonst gewinnt die Kundennummer (so passiert bei den Stadtwerken)
    r"Rechnungs(?:nummer|nr\.?|-Nr\.?)\s*:?\s*([A-Z0-9][A-Z0-9/\-]{3,})",
    r"Beleg-?Nr\.?\s*:?\s*([A-Z0-9][A-Z0-9/\-]{3,})",
    r"\b(INV/\d{4}/\d{5})\b",
]
BETRAG = r"(?:Gesamtbetrag|Rechnungsbetrag|Zu zahlen|Endbetrag|Summe brutto)[^\d\n]{0,40}(\d{1,3}(?:\.\d{3})*,\d{2})"


def text_of(pdf):
    return subprocess.run(["pdftotext", "-layout", str(pdf), "-"], capture_output=True, text=True, check=True).stdout


def datum(t):
    m = re.search(r"(?:Rechnungsdatum|Datum)\s*:?\s*(\d{1,2})\.(\d{1,2})\.(\d{4})", t)
    if m:
        d, mo, y = map(int, m.groups())
        return f"{y:04d}-{mo:02d}-{d:02d}"
    m = re.search(r"(\d{1,2})\.\s*(" + "|".join(MONATE) + r")\s+(\d{4})", t)
    if m:
        return f"{m[3]}-{MONATE.index(m[2]) + 1:02d}-{int(m[1]):02d}"
    return None


def nummer(t):
    for p in NUMMER:
        m = re.search(p, t)
        if m:
            return m[1].replace("/", "-").strip("-")      # Schrägstrich im Dateinamen: nein
    return "ohne-nr"


def betrag(t):
    # der LETZTE Treffer: Abschlagsrechnungen nennen erst die Auftragssumme
    alle = re.findall(BETRAG, t)
    return alle[-1].replace(".", "") if alle else "betrag-fehlt"


def firma(t):
    for zeile in t.splitlines():
        z = re.sub(r"\s{2,}.*", "", zeile.strip())        # rechts daneben steht meistens das Logo-Geraffel
        if len(z) > 4 and not re.match(r"(Rechnung|Seite|Herr|Familie|Feldkirch)", z):
            return re.sub(r"[^\w &.-]", "", z)[:40].strip()
    return "unbekannt"


def name_for(t):
    d = datum(t)
    return f"{d} {firma(t)} {nummer(t)} {betrag(t)}.pdf" if d else None


def main(argv):
    los = "--los" in argv
    for pdf in sorted(Path(argv[1]).glob("*.pdf")):
        if re.match(r"\d{4}-\d{2}-\d{2} ", pdf.name):
            continue                                       # schon dran gewesen
        neu = name_for(text_of(pdf))
        if not neu:
            print("?  kein Datum:", pdf.name)
            continue
        ziel = pdf.with_name(neu)
        if ziel.exists():
            print("!  doppelt:", pdf.name, "=", neu)
            continue
        print("->", pdf.name, "=>", neu)
        if los:
            pdf.rename(ziel)


if __name__ == "__main__":
    main(sys.argv)
