#!/usr/bin/env python3
"""Are the backups really there? Runs on amsel at 08:10, exit code = number of problems.

Why not only the Grafana alert: on 2024-09-19 restic reported success every night for 16 days,
but the bind mount /data/docs was EMPTY (dataset not mounted after a reboot). Success of nothing.
So here we look at what's inside the newest snapshot, not only at its age.
"""
import argparse
import datetime as dt
import json
import os
import subprocess
import sys
import urllib.request
from pathlib import Path

REPOS = {
    # name: (url, max age in hours, {path: minimum number of files})
    "elster": (os.environ.get("REPO_ELSTER", ""), 30, {"/data/docs": 9000, "/data/pictures": 90000}),
    "box": (os.environ.get("REPO_BOX", ""), 9 * 24, {"/data/docs": 9000}),
}
DUMPS = Path("/tank/backup/pg")
# smallest size that is still believable, in MB. haushalt is tiny and honest.
DUMP_MIN_MB = {"paperless": 40, "miniflux": 120, "forgejo": 25, "haushalt": 1}


def restic(repo, *args):
    env = dict(os.environ, RESTIC_REPOSITORY=repo)
    p = subprocess.run(["restic", "--json", "--no-lock", *args], env=env, capture_output=True, text=True, timeout=900)
    if p.returncode:
        raise RuntimeError(p.stderr.strip().splitlines()[-1] if p.stderr else f"rc {p.returncode}")
    return p.stdout


def parse_time(s):
    # restic writes nanoseconds, python 3.11 wants at most 6 digits
    head, _, tail = s.partition(".")
    zone = tail[tail.find("+"):] if "+" in tail else "+00:00"
    return dt.datetime.fromisoformat(head + zone)


def check_repo(name, url, max_h, minimum):
    bad = []
    snaps = json.loads(restic(url, "snapshots", "--latest", "1", "--host", "amsel"))
    if not snaps:
        return [f"{name}: no snapshot at all"]
    newest = max(snaps, key=lambda s: s["time"])
    age = (dt.datetime.now(dt.timezone.utc) - parse_time(newest["time"])).total_seconds() / 3600
    if age > max_h:
        bad.append(f"{name}: newest is {age:.0f} h old (limit {max_h})")
    for path, want in minimum.items():
        n = 0
        for line in restic(url, "ls", newest["short_id"], path, "--recursive").splitlines():
            n += '"type":"file"' in line
        if n < want:
            bad.append(f"{name}: {path} has {n} files, expected at least {want}")
    return bad


def check_dumps(today):
    bad = []
    for db, mb in DUMP_MIN_MB.items():
        f = DUMPS / f"{db}.dump"
        if not f.exists():
            bad.append(f"dump {db} missing")
            continue
        st = f.stat()
        if dt.date.fromtimestamp(st.st_mtime) != today:
            bad.append(f"dump {db} is from {dt.date.fromtimestamp(st.st_mtime)}")
        if st.st_size < mb * 1_000_000:
            bad.append(f"dump {db} only {st.st_size / 1e6:.1f} MB")
    return bad


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--heartbeat", help="URL to ping when everything is fine, silence = alarm on the other side (falke)")
    a = ap.parse_args()
    problems = check_dumps(dt.date.today())
    for name, (url, h, minimum) in REPOS.items():
        try:
            problems += check_repo(name, url, h, minimum)
        except Exception as e:  # elster asleep, line dead, lock... all of it is a problem
            problems.append(f"{name}: {e}")
    for p in problems:
        print(p)
    if not problems and a.heartbeat:
        urllib.request.urlopen(a.heartbeat, timeout=15)
    return min(len(problems), 100)


if __name__ == "__main__":
    sys.exit(main())
