"""Connects to a host of the test internet: egress.py HOST connect|receive|send COUNT BYTES.

Prints the nanoseconds of each iteration and "wall N" for all. connect: a connection and one byte that is echoed;
receive and send: a transfer of BYTES.
"""

import socket
import sys
import time

ECHO, SINK, SOURCE = 9003, 9000, 9001
host, what, count, size = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
address = socket.getaddrinfo(host, ECHO, socket.AF_INET, socket.SOCK_STREAM)[0][4][0]
buffer = memoryview(bytearray(1 << 18))


def connect():
    with socket.create_connection((address, ECHO)) as s:
        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        s.sendall(b"x")
        if s.recv(1) != b"x":
            sys.exit("no echo")


def receive():
    left = size
    with socket.create_connection((address, SOURCE)) as s:
        s.sendall(b"%d\n" % size)
        while left > 0:
            n = s.recv_into(buffer)
            if not n:
                sys.exit("the transfer ended early")
            left -= n


def send():
    left = size
    with socket.create_connection((address, SINK)) as s:
        while left > 0:
            left -= s.send(buffer[: min(left, len(buffer))])
        s.shutdown(socket.SHUT_WR)
        if s.recv(99) != b"%d" % size:
            sys.exit("not everything arrived")


iteration = {"connect": connect, "receive": receive, "send": send}[what]
begun = time.perf_counter_ns()
for _ in range(count):
    start = time.perf_counter_ns()
    iteration()
    print(time.perf_counter_ns() - start)
print("wall", time.perf_counter_ns() - begun)
