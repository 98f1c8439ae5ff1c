package dev.isola.server.access;

import dev.isola.engine.api.SandboxView;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * The Host header that processes in a sandbox receive instead of the one that the client sent. Some
 * development servers accept only names that they know.
 */
public final class GuestHostHeader {
  /** Label of a sandbox that holds the header, with {@link #PORT} in place of the port. */
  public static final String LABEL = "isola.guest-host";

  /** Replaced by the port of the request. */
  public static final String PORT = "${PORT}";

  private static final int MAX_LENGTH = 255;

  /** A name or an address, and a port. There is no character that could end the header. */
  private static final Pattern HOST =
      Pattern.compile(
          "([A-Za-z0-9_]([A-Za-z0-9._-]*[A-Za-z0-9_])?|\\[[0-9A-Fa-f:.]{2,45}])(:[0-9]{1,5})?");

  private GuestHostHeader() {}

  /** Returns whether a text is a valid header for every port. */
  public static boolean isValid(String mask) {
    return mask.length() <= MAX_LENGTH && HOST.matcher(withPort(mask, 65_535)).matches();
  }

  /** Returns the header for requests to a port; empty if the client's is forwarded. */
  public static Optional<String> of(SandboxView sandbox, int port) {
    return Optional.ofNullable(sandbox.labels().get(LABEL))
        .filter(GuestHostHeader::isValid)
        .map(mask -> withPort(mask, port));
  }

  private static String withPort(String mask, int port) {
    return mask.replace(PORT, Integer.toString(port));
  }
}
