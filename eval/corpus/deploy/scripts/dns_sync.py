#!/usr/bin/env python3
"""ip-plan.json -> DNS rewrites in AdGuard Home on eule. uhu gets them by its own sync, never write there.

dns_sync.py ip-plan.json          show what would change
dns_sync.py ip-plan.json --do     change it
"""
import base64
import json
import os
import re
import sys
import urllib.request

API = "http://10.40.0.53:3000/control"
ZONE = "lan.fernhof.example"
# Written by hand in the UI, not from the plan. Wildcard must never be deleted by this script: on 2024-03-30 it was
# and for 40 min every ingress name was gone, including the one of the notes where I'd have looked it up.
KEEP = {f"*.{ZONE}", f"kino.{ZONE}", f"mqtt.{ZONE}"}


def call(path, payload=None):
    auth = base64.b64encode(f"sync:{os.environ['AGH_PASSWORD']}".encode()).decode()
    req = urllib.request.Request(API + path, headers={"Authorization": "Basic " + auth, "Content-Type": "application/json"},
                                 data=None if payload is None else json.dumps(payload).encode())
    with urllib.request.urlopen(req, timeout=10) as r:
        body = r.read()
    return json.loads(body) if body.strip() else None


def wanted(plan):
    """every static entry whose name looks like a hostname; '(dohle, reserved)' and 'free ...' do not"""
    out = {}
    for vlan in plan["vlans"].values():
        for ip, what in vlan.get("static", {}).items():
            name = what["host"] if isinstance(what, dict) else what
            name = name.strip().lower()
            if re.fullmatch(r"[a-z0-9-]+", name):
                out[f"{name}.{ZONE}"] = ip
    return out


def diff(have, want):
    have = {r["domain"]: r["answer"] for r in have if r["domain"].endswith(ZONE) and r["domain"] not in KEEP}
    add = [(d, ip) for d, ip in want.items() if have.get(d) != ip]
    rem = [(d, ip) for d, ip in have.items() if want.get(d) != ip]
    return add, rem


def main(argv):
    plan = json.load(open(argv[1], encoding="utf-8"))
    add, rem = diff(call("/rewrite/list"), wanted(plan))
    if len(rem) > 5:
        sys.exit(f"{len(rem)} deletions, that smells. Not doing it.")     # empty plan file, 2025-05-05
    for d, ip in rem:
        print("-", d, ip)
        if "--do" in argv:
            call("/rewrite/delete", {"domain": d, "answer": ip})
    for d, ip in add:
        print("+", d, ip)
        if "--do" in argv:
            call("/rewrite/add", {"domain": d, "answer": ip})


if __name__ == "__main__":
    main(sys.argv)
