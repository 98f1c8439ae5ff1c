package dev.isola.egress.http;

import dev.isola.spi.Secret;
import java.util.List;

/**
 * A secret that may be sent to the host of a connection.
 *
 * @param name its name in <code>${secret.NAME}</code>
 * @param placeholders what guest processes have instead of the value; each at least {@value
 *     #MIN_LENGTH} characters of ASCII that are unlikely to occur otherwise
 * @param inBodies whether a placeholder is replaced in the body of a request too, if it is as long
 *     as the value. A host that stores what it receives, and shows it to others, discloses a secret
 *     that it receives in a body.
 */
public record BoundSecret(String name, List<String> placeholders, Secret value, boolean inBodies) {
  /** Shorter texts occur by chance. */
  public static final int MIN_LENGTH = 8;

  /** The beginning of a value that a response may contain: it occurs by chance. */
  static final int MOST_DISCLOSED = MIN_LENGTH / 2;

  /** Longer values are not replaced in bodies, which bounds what is held back. */
  static final int MAX_LENGTH_IN_BODIES = 4 * 1024;

  public BoundSecret {
    placeholders = List.copyOf(placeholders);
    for (String placeholder : placeholders) {
      if (placeholder.length() < MIN_LENGTH
          || !placeholder.chars().allMatch(c -> c > ' ' && c < 0x7f)) {
        throw new IllegalArgumentException(
            "the placeholder of secret '%s' is shorter than %d characters or contains others than printable ASCII"
                .formatted(name, MIN_LENGTH));
      }
    }
  }
}
