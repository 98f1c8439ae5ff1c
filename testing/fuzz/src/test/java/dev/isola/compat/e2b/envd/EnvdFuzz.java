package dev.isola.compat.e2b.envd;

import dev.isola.codec.connect.ConnectFrame;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.SandboxException;
import java.io.ByteArrayInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * A client of E2B's API sends the input as a stream of Connect messages. Each is read, or refused
 * as invalid, and so is each of its fields.
 */
public final class EnvdFuzz {
  private EnvdFuzz() {}

  /** Reads a field. */
  private interface Accessor {
    Object read();
  }

  public static void fuzzerTestOneInput(byte[] input) throws IOException {
    InputStream in = new ByteArrayInputStream(input);
    try {
      for (Optional<ConnectMessage> next = ConnectStream.read(in);
          next.isPresent();
          next = ConnectStream.read(in)) {
        use(next.get());
      }
    } catch (EOFException e) {
      // The client hung up within a message.
    } catch (SandboxException e) {
      requireInvalid(e);
    }
    roundTrip(input);
  }

  private static void use(ConnectMessage message) {
    for (Object name : message.fields().keySet()) {
      String field = String.valueOf(name);
      for (Accessor accessor :
          List.<Accessor>of(
              () -> message.text(field),
              () -> message.requiredText(field),
              () -> message.wholeNumber(field),
              () -> message.flag(field, true),
              () -> message.bytes(field),
              () -> message.texts(field),
              () -> message.textsByName(field))) {
        try {
          accessor.read();
        } catch (SandboxException e) {
          requireInvalid(e);
        }
      }
      try {
        message.message(field).ifPresent(EnvdFuzz::use);
      } catch (SandboxException e) {
        requireInvalid(e);
      }
    }
  }

  private static void roundTrip(byte[] json) throws IOException {
    Optional<ConnectFrame> frame =
        ConnectFrame.read(new ByteArrayInputStream(ConnectFrame.message(json)), json.length);
    if (frame.isEmpty() || !Arrays.equals(frame.get().json(), json)) {
      throw new AssertionError("a message is read as another one");
    }
  }

  private static void requireInvalid(SandboxException e) {
    if (e.code() != ErrorCode.INVALID_REQUEST) {
      throw new AssertionError("refused as " + e.code(), e);
    }
  }
}
