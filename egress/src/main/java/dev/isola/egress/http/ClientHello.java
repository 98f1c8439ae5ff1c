package dev.isola.egress.http;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.IOException;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.util.Optional;

/** The first message of a TLS client (RFC 8446, 4.1.2), of which the name is read without a key. */
final class ClientHello {
  private static final int RECORD_HEADER = 5;
  private static final int LENGTH_AT = 3;
  private static final int MAX_RECORD = 1 << 14;
  private static final byte CLIENT_HELLO = 1;
  private static final int LENGTH_AND_VERSION = 3 + 2;
  private static final int RANDOM = 32;
  private static final int SERVER_NAME = 0;
  private static final byte HOST_NAME = 0;

  private ClientHello() {}

  /**
   * Returns the host that a client asks for. The bytes are read again later.
   *
   * @return empty if it asks for none, or if the message is malformed or longer than a record
   */
  static Optional<String> serverName(MonitoredConnection client) throws IOException {
    byte[] header = client.peek(RECORD_HEADER);
    if (header.length < RECORD_HEADER) {
      return Optional.empty();
    }
    int length = Short.toUnsignedInt(ByteBuffer.wrap(header).getShort(LENGTH_AT));
    if (length > MAX_RECORD) {
      return Optional.empty();
    }
    ByteBuffer record = ByteBuffer.wrap(client.peek(RECORD_HEADER + length));
    try {
      skip(record, RECORD_HEADER);
      return serverName(record);
    } catch (BufferUnderflowException | IllegalArgumentException malformed) {
      return Optional.empty();
    }
  }

  private static Optional<String> serverName(ByteBuffer hello) {
    if (hello.get() != CLIENT_HELLO) {
      return Optional.empty();
    }
    skip(hello, LENGTH_AND_VERSION + RANDOM);
    skip(hello, Byte.toUnsignedInt(hello.get())); // session
    skip(hello, Short.toUnsignedInt(hello.getShort())); // cipher suites
    skip(hello, Byte.toUnsignedInt(hello.get())); // compression methods
    skip(hello, Short.BYTES); // the length of the extensions
    while (hello.hasRemaining()) {
      int type = Short.toUnsignedInt(hello.getShort());
      int length = Short.toUnsignedInt(hello.getShort());
      if (type == SERVER_NAME) {
        skip(hello, Short.BYTES); // the length of a list with one name
        boolean named = hello.get() == HOST_NAME;
        byte[] name = new byte[Short.toUnsignedInt(hello.getShort())];
        hello.get(name);
        return named ? Optional.of(new String(name, ISO_8859_1)) : Optional.empty();
      }
      skip(hello, length);
    }
    return Optional.empty();
  }

  private static void skip(ByteBuffer hello, int bytes) {
    hello.position(hello.position() + bytes);
  }
}
