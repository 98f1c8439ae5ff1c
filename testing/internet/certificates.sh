#!/bin/sh
# Makes an authority and certificates for the test internet: certificates.sh FOLDER
set -eu
cd "$1"
key() { openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$1"; }
key ca.key
openssl req -x509 -new -key ca.key -days 30 -subj '/CN=Test internet' -out ca.pem \
  -addext 'basicConstraints=critical,CA:TRUE' -addext 'keyUsage=critical,keyCertSign,cRLSign'
# issue NAME EXTENSIONS: one key and one certificate
issue() {
  key "$1.key"
  printf '%s\n' "$2" >"$1.ext"
  openssl req -new -key "$1.key" -subj "/CN=$1" -out "$1.csr"
  openssl x509 -req -in "$1.csr" -CA ca.pem -CAkey ca.key -CAcreateserial -days 30 -extfile "$1.ext" -out "$1.pem"
}
names=DNS:*.wild.example,DNS:*.deep.wild.example,DNS:example.com,DNS:*.example.com,IP:203.0.113.10,IP:203.0.113.53
# No client accepts a certificate for *.example.
for name in ok denied proxy v6 dual mixed many rebind mtls pinned wild api other pypi npm git; do
  names=$names,DNS:$name.example
done
issue server "subjectAltName=$names"
issue client 'extendedKeyUsage=clientAuth'
chmod 644 client.key
if command -v keytool >/dev/null; then
  store=${JAVA_HOME:-$(dirname "$(dirname "$(readlink -f "$(command -v keytool)")")")}/lib/security/cacerts
  cp -L "$store" cacerts && chmod 644 cacerts
  keytool -importcert -noprompt -keystore cacerts -storepass changeit -alias internet -file ca.pem
fi
