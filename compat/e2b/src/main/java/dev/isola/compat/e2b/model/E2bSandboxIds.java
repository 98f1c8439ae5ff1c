package dev.isola.compat.e2b.model;

import dev.isola.server.route.SandboxIds;
import dev.isola.spi.SandboxId;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;

/**
 * Ids of sandboxes as E2B's clients write them. The first versions append the {@code clientID} of
 * the response that named the sandbox.
 */
public final class E2bSandboxIds {
  /** The value of {@code clientID}. */
  public static final String CLIENT = "isola";

  /** What the first versions of the clients append to an id. */
  public static final String SUFFIX = "-" + CLIENT;

  private E2bSandboxIds() {}

  /**
   * Parses an id, with or without the suffix.
   *
   * @throws dev.isola.spi.error.NotFound when it is not a valid id
   */
  static SandboxId of(String text) {
    String id = text.endsWith(SUFFIX) ? text.substring(0, text.length() - SUFFIX.length()) : text;
    return SandboxIds.find(id).orElseThrow(() -> unknown(text));
  }

  /** Returns the error for a sandbox that does not exist. */
  public static SandboxException unknown(String id) {
    return Fault.of(
            ErrorCode.SANDBOX_NOT_FOUND, "sandbox " + id + " does not exist", "list the sandboxes")
        .exception();
  }
}
