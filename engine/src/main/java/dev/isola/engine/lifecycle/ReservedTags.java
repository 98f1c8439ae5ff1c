package dev.isola.engine.lifecycle;

import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import java.util.Map;
import java.util.TreeMap;

/** The tags that callers cannot set, because the server has its own among them. */
public final class ReservedTags {
  public static final String PREFIX = "isola.";

  private ReservedTags() {}

  public static boolean contains(String name) {
    return name.startsWith(PREFIX);
  }

  /**
   * Refuses the tags of a caller if one of them is reserved.
   *
   * @throws dev.isola.spi.error.InvalidRequest naming the first of them
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
