"""meter_csv_to_json: the spreadsheet of the meter readings -> meter-readings.json

Used once a month after typing the four numbers. Input (semicolon, German decimals,
because it comes out of LibreOffice on meise):

    datum;haus;einspeisung;wp;wasser;notiz
    01.10.2026;5811;18648;12426;123,1;

Checks before writing, each one because it happened:
  * a counter never goes down (water in 2025-09 is the allowed exception)
  * house never more than 900 kWh in a month (typo 47450, see zaehlerstaende)
  * dates ascending
"""
import csv
import datetime as dt
import io
import json
import sys

KEYS = {"haus": "import_180", "einspeisung": "export_280", "wp": "hp_180", "wasser": "water_m3"}
SWAPPED = {("water_m3", "2025-09-01"), ("water_m3", "2025-10-01")}


def num(s: str):
    s = s.strip()
    if not s:
        return None
    s = s.replace(".", "").replace(",", ".")   # 1.234,5 -> 1234.5
    f = float(s)
    return int(f) if f.is_integer() else f


def rows(text: str):
    for r in csv.DictReader(io.StringIO(text), delimiter=";"):
        d = dt.datetime.strptime(r["datum"].strip(), "%d.%m.%Y").date().isoformat()
        out = {"date": d}
        for src, dst in KEYS.items():
            out[dst] = num(r.get(src, ""))
        if (r.get("notiz") or "").strip():
            out["note"] = r["notiz"].strip()
        yield out


def check(readings):
    bad = []
    for a, b in zip(readings, readings[1:]):
        if b["date"] <= a["date"]:
            bad.append(f"{b['date']}: not after {a['date']}")
        for k in KEYS.values():
            if a[k] is None or b[k] is None or (k, b["date"]) in SWAPPED:
                continue
            if b[k] < a[k]:
                bad.append(f"{b['date']}: {k} went down {a[k]} -> {b[k]}")
            if k == "import_180" and b[k] - a[k] > 900:
                bad.append(f"{b['date']}: {k} +{b[k] - a[k]} in one step?")
    return bad


if __name__ == "__main__":
    data = list(rows(sys.stdin.read()))
    problems = check(data)
    for p in problems:
        print("!", p, file=sys.stderr)
    if problems and "--force" not in sys.argv:
        sys.exit(2)
    json.dump({"readings": data}, sys.stdout, indent=1, ensure_ascii=False)
    print()
