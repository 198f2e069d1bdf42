#!/usr/bin/env python3
# who is new in the network today? compares two lease lists (zaun, ISC -> Kea since 2025-04, csv now)
import csv
import sys

KNOWN_RANDOM = ("2", "6", "a", "e")   # second hex digit: locally administered = phone with private wifi address, don't report


def load(path):
    with open(path, newline="") as f:
        return {r["hwaddr"].lower(): (r["address"], r.get("hostname") or "-") for r in csv.DictReader(f) if r["hwaddr"]}


def is_random(mac):
    return mac[1] in KNOWN_RANDOM


def main(old, new):
    a, b = load(old), load(new)
    for mac in sorted(b.keys() - a.keys()):
        ip, name = b[mac]
        if is_random(mac) and ip.startswith("10.40.40."):
            continue                  # guests, who cares
        print(f"NEW {mac} {ip} {name}")
    for mac in sorted(a.keys() & b.keys()):
        if a[mac][0].rsplit(".", 1)[0] != b[mac][0].rsplit(".", 1)[0]:
            print(f"MOVED {mac} {a[mac][0]} -> {b[mac][0]} {b[mac][1]}")   # VLAN change = a kid found the other wifi password


if __name__ == "__main__":
    main(*sys.argv[1:3])
