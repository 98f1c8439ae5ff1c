package dev.isola.store;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.isola.spi.SandboxId;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import java.time.Instant;
import java.util.Base64;

/** A position in the list of sandboxes: directly after the given sandbox. */
record Cursor(Instant createdAt, String id) {
  private static final String VERSION = "1";

  static Cursor after(SandboxEntry entry) {
    return new Cursor(entry.createdAt(), entry.id().value());
  }

  String encoded() {
    String plain = VERSION + ":" + Micros.of(createdAt) + ":" + id;
    return Base64.getUrlEncoder().withoutPadding().encodeToString(plain.getBytes(UTF_8));
  }

  static Cursor decode(String text) {
    try {
      String plain = new String(Base64.getUrlDecoder().decode(text), UTF_8);
      String[] parts = plain.split(":", -1);
      if (parts.length == 3 && parts[0].equals(VERSION) && SandboxId.isValid(parts[2])) {
        return new Cursor(Micros.instant(Long.parseLong(parts[1])), parts[2]);
      }
    } catch (IllegalArgumentException e) {
      throw refused(e);
    }
    throw refused(null);
  }

  private static SandboxException refused(@org.jspecify.annotations.Nullable Throwable cause) {
    return Fault.of(
            ErrorCode.INVALID_REQUEST,
            "the cursor is invalid",
            "use the cursor of the previous page unchanged, or none for the first page")
        .exception(cause);
  }
}
