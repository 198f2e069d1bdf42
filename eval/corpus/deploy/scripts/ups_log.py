#!/usr/bin/env python3
"""Every minute: one CSV line with load, charge, runtime; when on battery, count the seconds.

Ended up here because the UPS' own log forgets everything when it goes flat, which is the only moment I'm interested in.
"""
import csv
import subprocess
import sys
import time
from pathlib import Path

LOG = Path("/fast/appdata/ups/grau.csv")
KEYS = ["ups.status", "ups.load", "battery.charge", "battery.runtime", "input.voltage"]
OUTAGES = LOG.with_name("ausfall.txt")


def read(ups="grau@localhost"):
    out = subprocess.run(["upsc", ups], capture_output=True, text=True, timeout=10).stdout
    d = dict(l.split(": ", 1) for l in out.splitlines() if ": " in l)
    return [d.get(k, "") for k in KEYS]


def transitions(rows):
    """rows of (epoch, status) -> list of (start, seconds). OB = on battery; 'OB DISCHRG LB' counts too"""
    res, start = [], None
    for t, status in rows:
        on_batt = "OB" in status.split()
        if on_batt and start is None:
            start = t
        elif not on_batt and start is not None:
            res.append((start, t - start))
            start = None
    return res


def main():
    now = int(time.time())
    vals = read()
    with LOG.open("a", newline="") as f:
        csv.writer(f).writerow([now, *vals])
    if "--summary" in sys.argv:
        rows = [(int(r[0]), r[1]) for r in csv.reader(LOG.open())]
        for start, sec in transitions(rows):
            # shorter than 60 s we can't see, minute grid. The Saturday blips (network operator switching) are all < 1 s
            print(time.strftime("%Y-%m-%d %H:%M", time.localtime(start)), f"{sec // 60} min")


if __name__ == "__main__":
    main()

# from the summary, longest ones so far:
#   2024-02-27 18:12   23 min   transformer at the allotments, whole street
#   2025-06-15 04:51    9 min   storm
#   2026-01-04 20:33   31 min   amsel shut down cleanly at 27 % after 19 min, first time the chain really worked
