package dev.isola.server.route;

import dev.isola.spi.SandboxId;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import java.util.Optional;

/**
 * Parses sandbox ids. What a path names is resolved by the dialect of its route ({@link
 * ApiDialect#sandbox}); handlers and guards receive the result.
 */
public final class SandboxIds {
  private SandboxIds() {}

  /** Parses an id; empty if the text is none. */
  public static Optional<SandboxId> find(String text) {
    return SandboxId.isValid(text) ? Optional.of(new SandboxId(text)) : Optional.empty();
  }

  /**
   * Parses an id.
   *
   * @throws dev.isola.spi.error.InvalidRequest when it is not a valid id
   */
  public static SandboxId of(String text) {
    return find(text)
        .orElseThrow(
            () ->
                Fault.of(
                        ErrorCode.INVALID_REQUEST,
                        "'" + text + "' is not a valid sandbox id",
                        "use 1 to 32 lower-case letters and digits")
                    .exception());
  }
}
