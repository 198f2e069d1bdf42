#!/usr/bin/env python3
"""Rename scanned invoices before they go to the Paperless consume folder.

scan_0031.pdf + sidecar scan_0031.txt (from ocrmypdf --sidecar)
  -> 2025-06-18_elektro-goessel_INV-2025-00412.pdf

Only renames if date, firm AND number are found. Everything else stays and I
look at it by hand. Had a version that guessed the date from mtime: bad idea,
half of 2023 was filed under the day of scanning.
"""
import re
import sys
from pathlib import Path

# order matters, first hit wins
FIRMS = {
    "elektro-goessel": (r"G[öo]e?ssel", r"INV/20\d\d/\d{5}"),
    "reuther": (r"Baumdienst\s+Reuther", r"INV/20\d\d/\d{5}"),
    "wendler": (r"Haustechnik\s+Wendler", r"RE-\d\d-\d{4}"),
    "mulde": (r"K[äa]e?lte-Service\s+Mulde", r"KSM-20\d\d-\d{4}"),
    "zschoche": (r"Dachdeckerei\s+Zschoche", r"ZD-\d\d-\d{3}"),
    "hellwig": (r"Forst\s+Hellwig", r"\b\d{4}-\d{2}\b"),  # weak, collides with dates
}
DATE = re.compile(r"\b(\d{1,2})\.\s?(\d{1,2})\.\s?(20\d\d)\b")


def plan(txt: str):
    for slug, (who, num) in FIRMS.items():
        if not re.search(who, txt, re.I):
            continue
        d = DATE.search(txt)
        n = re.search(num, txt)
        if d and n:
            day, month, year = (int(x) for x in d.groups())
            return f"{year}-{month:02d}-{day:02d}_{slug}_{n.group().replace('/', '-')}.pdf"
    return None


def main(folder: str, dry: bool) -> int:
    left = 0
    for side in sorted(Path(folder).glob("scan_*.txt")):
        pdf = side.with_suffix(".pdf")
        if not pdf.exists():
            continue
        new = plan(side.read_text(encoding="utf-8", errors="replace"))
        if new is None:
            left += 1
            print("?? ", pdf.name)
            continue
        target = pdf.with_name(new)
        if target.exists():  # the double payment of July 2025 says hello
            print("DUP", pdf.name, "->", new)
            left += 1
            continue
        print("ok ", pdf.name, "->", new)
        if not dry:
            pdf.rename(target)
    return 1 if left else 0


if __name__ == "__main__":
    args = [a for a in sys.argv[1:] if a != "-n"]
    sys.exit(main(args[0] if args else ".", "-n" in sys.argv))
