#!/bin/sh
# Gives the internet its addresses and becomes its server: serve.sh FOLDER, in a network namespace of its own that has
# the interface down0.
set -u
ip link set lo up
ip addr add 198.51.100.2/24 dev down0
ip addr add 2600:db8:1::2/64 dev down0 nodad
ip link set down0 up
# Public addresses, metadata services, private networks; then the forms of IPv6 that carry 169.254.169.254.
for address in 203.0.113.10 203.0.113.11 203.0.113.12 203.0.113.53 203.0.113.66 \
  169.254.169.254 100.100.100.200 168.63.129.16 192.0.0.192 10.0.0.5 172.16.0.5 192.168.1.1 198.19.7.7; do
  ip addr add "$address/32" dev lo
done
for address in 2600:db8::10 fd00:ec2::254 fc00::5 64:ff9b::a9fe:a9fe 2002:a9fe:a9fe::1 2001:0:a9fe:a9fe::1 \
  ::169.254.169.254 fec0::5 2600:db8::53; do
  ip -6 addr add "$address/128" dev lo nodad
done
exec python3 "$(dirname "$0")/internet.py" "$1"
