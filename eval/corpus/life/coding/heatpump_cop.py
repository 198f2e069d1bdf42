#!/usr/bin/env python3
# monthly seasonal performance factor ("JAZ") from two counters.
# heat: MWh counter on the unit's display, typed by hand. el: register of the meter 1ISK...407
#
# usage: heatpump_cop.py readings.txt
#   line format:  2024-10-01  25.84  5034
#                 date        heat   hp meter in kWh
#
# first version divided by the *house* meter. JAZ 8.1. I told people.
import sys

# offset: unit counted from 2022-10-19, the meter since 2023-05-16 with 1002 on it.
# differences only, so it cancels out. Do not use absolute values!


def parse(path):
    for line in open(path, encoding="utf-8"):
        line = line.split("#")[0].strip()
        if line:
            date, heat, el = line.split()
            yield date, float(heat) * 1000, float(el)


def main(path):
    prev = None
    for date, heat, el in parse(path):
        if prev:
            dh, de = heat - prev[1], el - prev[2]
            # display has 10 kWh steps, so summer months are rough
            mark = "~" if dh < 300 else " "
            print(f"{prev[0]} .. {date}  heat {dh:7.0f}  el {de:6.0f}  JAZ {mark}{dh / de:4.2f}")
        prev = (date, heat, el)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: heatpump_cop.py readings.txt")
    main(sys.argv[1])

# results worth remembering
#   season 2022/23 (slope 0.9..1.2)  3.1
#   season 2023/24 (slope 0.75)      3.6
#   season 2024/25 (0.65 + buffer)   4.1
#   season 2025/26                   4.2
