#!/usr/bin/env python3
"""Heat pump registers -> MQTT.

The gateway (10.40.30.40:502) takes exactly one TCP client. Until 2025-11 specht polled too and every night about 03:00
we got "Connection reset by peer" for half an hour. Now only this script polls, everybody else subscribes.

Hand made Modbus: pymodbus changed its API three times in two years and I need exactly one function code.
"""
import json
import os
import socket
import struct
import time

import paho.mqtt.client as mqtt

HOST, PORT, UNIT = "10.40.30.40", 502, 3          # unit 1 is the room controller, 3 the outdoor unit
BASE = "fernhof/wp"
POLL_S = 20                                       # <10 makes the outdoor unit answer with exception 06 (busy)

# address: (name, factor, signed). From the installer's PDF page 41; 2107 is wrong there, is 2108 in reality.
REGS = {
    2102: ("vorlauf", 0.1, True),
    2103: ("ruecklauf", 0.1, True),
    2105: ("aussen", 0.1, True),
    2108: ("verdichter_hz", 1, False),
    2110: ("leistung_w", 10, False),
    2111: ("waerme_w", 10, False),
    2120: ("abtauung", 1, False),
    2131: ("stoerung", 1, False),                 # 0 = fine, 37 = flow too low (filter! see 2025-01), 52 = low pressure
}


def read_holding(sock, tid, addr, count=1):
    """function 03, returns list of ints"""
    sock.sendall(struct.pack(">HHHBBHH", tid, 0, 6, UNIT, 3, addr, count))
    head = recv_exact(sock, 9)
    _tid, _proto, length, _unit, func, nbytes = struct.unpack(">HHHBBB", head)
    if func & 0x80:
        raise OSError(f"modbus exception {nbytes:02d} at {addr}")
    data = recv_exact(sock, nbytes)
    return list(struct.unpack(f">{nbytes // 2}H", data))


def recv_exact(sock, n):
    buf = b""
    while len(buf) < n:
        part = sock.recv(n - len(buf))
        if not part:
            raise OSError("gateway closed the connection")
        buf += part
    return buf


def scale(raw, factor, signed):
    if signed and raw > 0x7FFF:
        raw -= 0x10000                            # -4.3 C came out as 6549.3 on the first frost night
    return round(raw * factor, 1)


def main():
    c = mqtt.Client(client_id="wp-bridge")
    c.username_pw_set("wp-bridge", os.environ["MQTT_PASSWORD"])
    c.will_set(f"{BASE}/online", "0", retain=True)
    c.connect("10.40.0.10", 1883, 60)
    c.loop_start()
    tid = 0
    while True:
        try:
            with socket.create_connection((HOST, PORT), timeout=6) as s:
                c.publish(f"{BASE}/online", "1", retain=True)
                while True:
                    values = {}
                    for addr, (name, f, signed) in REGS.items():
                        tid = (tid + 1) & 0xFFFF
                        values[name] = scale(read_holding(s, tid, addr)[0], f, signed)
                        time.sleep(0.15)          # RS485 needs the breath
                    c.publish(f"{BASE}/state", json.dumps(values), retain=True)
                    time.sleep(POLL_S)
        except OSError as e:
            print("retry:", e, flush=True)
            c.publish(f"{BASE}/online", "0", retain=True)
            time.sleep(30)


if __name__ == "__main__":
    main()
