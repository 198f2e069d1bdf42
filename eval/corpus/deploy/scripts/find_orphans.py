#!/usr/bin/env python3
"""Files below the Immich library that the database doesn't know, and the other way round.

Needed after 2025-06-02 (vectorchord move): 311 files without an asset, all from one afternoon when the phone upload
was running during the migration. Ina's Ostsee pictures. Found only because she asked.
"""
import os
import sys
from pathlib import Path

import psycopg2

ROOT = Path("/tank/pictures/immich")
IN_CONTAINER = "/data"
SKIP = {"thumbs", "encoded-video", "backups", "profile"}


def on_disk(root):
    for d, dirs, files in os.walk(root):
        if Path(d) == root:
            dirs[:] = [x for x in dirs if x not in SKIP]
        for f in files:
            if f.endswith(".xmp") or f == ".immich":      # .immich = the mount check files, one per folder
                continue
            yield str(Path(d, f).relative_to(root))


def in_db(conn):
    with conn.cursor("s") as cur:                          # server side cursor, 96k rows don't have to be in RAM
        # table was called `assets` before 1.136, `asset` afterwards
        cur.execute('select "originalPath" from asset where not "isExternal"')
        for (p,) in cur:
            yield p.removeprefix(IN_CONTAINER + "/")


def main():
    conn = psycopg2.connect(host="127.0.0.1", port=5433, dbname="immich", user="immich", password=os.environ["IMMICH_DB_PASSWORD"])
    disk, db = set(on_disk(ROOT)), set(in_db(conn))
    for p in sorted(disk - db):
        print("disk only:", p)
    for p in sorted(db - disk):
        print("DB ONLY  :", p)                             # these are the bad ones, restore from elster
    print(f"{len(disk)} on disk, {len(db)} in db", file=sys.stderr)
    return 1 if db - disk else 0


if __name__ == "__main__":
    sys.exit(main())
