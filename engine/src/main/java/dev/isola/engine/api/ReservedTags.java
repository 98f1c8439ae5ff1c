package dev.isola.engine.api;

import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import java.util.Map;
import java.util.TreeMap;

/** The tags that the server reserves for its own use. */
public final class ReservedTags {
  public static final String PREFIX = "isola.";

  private ReservedTags() {}

  public static boolean contains(String name) {
    return name.startsWith(PREFIX);
  }

  /**
   * Rejects tags of a client if one of them is reserved.
   *
   * @throws dev.isola.spi.error.InvalidRequest naming the first reserved tag
   */
  public static void reject(Map<String, String> tags) {
    for (String name : new TreeMap<>(tags).keySet()) {
      if (contains(name)) {
        throw Fault.of(
                ErrorCode.INVALID_SPEC,
                "the tag '" + name + "' begins with " + PREFIX + ", which is reserved",
                "choose another name for the tag")
            .with("field", "tags")
            .exception();
      }
    }
  }
}
