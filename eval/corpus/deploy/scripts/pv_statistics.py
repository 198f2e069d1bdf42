#!/usr/bin/env python3
"""Monthly PV numbers from VictoriaMetrics as a markdown line for the note "Photovoltaik".

usage: pv_statistics.py 2026-05
The inverter counter restarts at 0 after firmware updates (2025-02-11, 2026-04-03), therefore increase() and not last-first.
"""
import calendar
import datetime as dt
import json
import sys
import urllib.parse
import urllib.request
from zoneinfo import ZoneInfo

VM = "http://vm.lan.fernhof.example/api/v1/query"
TZ = ZoneInfo("Europe/Berlin")
KWP = 9.8
FEED_IN_CT = 8.11      # Einspeisevergütung up to 10 kWp, IBN 2024-03. Until 2024-02 it would have been 8.2, thank you electrician
GRID_CT = 31.4         # Arbeitspreis since 2026-01-01; 2025: 33.9; 2024: 36.2


def query(expr, at):
    url = VM + "?" + urllib.parse.urlencode({"query": expr, "time": int(at.timestamp())})
    with urllib.request.urlopen(url, timeout=30) as r:
        res = json.load(r)["data"]["result"]
    return float(res[0]["value"][1]) if res else 0.0


def month(ym):
    y, m = map(int, ym.split("-"))
    days = calendar.monthrange(y, m)[1]
    # local midnight, NOT utc. 2024: October had 31 days and one hour, was 4 kWh off
    end = dt.datetime(y + m // 12, m % 12 + 1, 1, tzinfo=TZ)
    start = dt.datetime(y, m, 1, tzinfo=TZ)
    return days, end, int((end - start).total_seconds())


def line(ym, q=query):
    days, end, secs = month(ym)
    pv = q(f"increase(pv_yield_kwh_total[{secs}s])", end)
    out = q(f"increase(grid_export_kwh_total[{secs}s])", end)
    imp = q(f"increase(grid_import_kwh_total[{secs}s])", end)
    own = pv - out
    house = own + imp
    autark = own / house if house else 0
    gain = own * GRID_CT / 100 + out * FEED_IN_CT / 100
    return (f"| {ym} | {pv:.0f} kWh | {pv / KWP:.0f} kWh/kWp | {own:.0f} | {out:.0f} | {imp:.0f} "
            f"| {autark:.0%} | {gain:.2f} EUR |")


if __name__ == "__main__":
    for ym in sys.argv[1:] or [(dt.date.today().replace(day=1) - dt.timedelta(days=1)).strftime("%Y-%m")]:
        print(line(ym))
