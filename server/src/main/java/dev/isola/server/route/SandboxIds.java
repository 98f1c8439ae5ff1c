package dev.isola.server.route;

import dev.isola.spi.SandboxId;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;

/** Ids of sandboxes as clients write them. */
public final class SandboxIds {
  private SandboxIds() {}

  /**
   * Reads an id.
   *
   * @throws dev.isola.spi.error.InvalidRequest when the text cannot be one
   */
  public static SandboxId of(String text) {
    if (!SandboxId.isValid(text)) {
      throw Fault.of(
              ErrorCode.INVALID_REQUEST,
              "'" + text + "' is not a sandbox id",
              "use 1 to 32 lower-case letters and digits")
          .exception();
    }
    return new SandboxId(text);
  }
}
