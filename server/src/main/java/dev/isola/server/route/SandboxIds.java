package dev.isola.server.route;

import dev.isola.spi.SandboxId;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;

/** Parses sandbox ids. */
public final class SandboxIds {
  private SandboxIds() {}

  /**
   * Parses an id.
   *
   * @throws dev.isola.spi.error.InvalidRequest when it is not a valid id
   */
  public static SandboxId of(String text) {
    if (!SandboxId.isValid(text)) {
      throw Fault.of(
              ErrorCode.INVALID_REQUEST,
              "'" + text + "' is not a valid sandbox id",
              "use 1 to 32 lower-case letters and digits")
          .exception();
    }
    return new SandboxId(text);
  }
}
