#!/usr/bin/env python3
# Monday 07:00 mail: which dataset holds how much in snapshots, and which has none newer than it should.
# zfs list -p prints bytes; without -p I parsed "1.2T" for two years and rounded 90 GB away.
import collections
import datetime as dt
import subprocess
import sys

# dataset prefix -> newest snapshot at most this old (hours)
EXPECT = {"tank/docs": 2, "tank/pictures": 2, "tank/sync": 2, "tank/k3s": 3, "fast/appdata": 3, "tank/media": 26}


def snapshots():
    out = subprocess.run(["zfs", "list", "-Hpt", "snapshot", "-o", "name,used,creation"], capture_output=True, text=True, check=True).stdout
    for line in out.splitlines():
        name, used, created = line.split("\t")
        yield name.split("@")[0], name.split("@")[1], int(used), int(created)


def report(rows, now):
    used, newest, count = collections.Counter(), {}, collections.Counter()
    for ds, _snap, u, c in rows:
        used[ds] += u
        count[ds] += 1
        newest[ds] = max(newest.get(ds, 0), c)
    lines, bad = [], 0
    for ds, u in used.most_common():
        lines.append(f"{ds:<34}{count[ds]:>6}{u / 2**30:>10.1f} GiB")
    for ds, hours in EXPECT.items():
        age = (now - newest.get(ds, 0)) / 3600
        if age > hours:
            bad += 1
            lines.append(f"!! {ds}: newest snapshot {age:.1f} h old, allowed {hours}")
    return lines, bad


if __name__ == "__main__":
    text, bad = report(snapshots(), dt.datetime.now().timestamp())
    print("\n".join(text))
    # sum of `used` is NOT what you get back when all are destroyed (shared blocks). `zfs destroy -nv a@x%y` tells the truth.
    sys.exit(1 if bad else 0)
