package dev.isola.server.e2b;

import dev.isola.engine.api.SandboxView;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * What E2B's clients said of a sandbox that a spec has no word for, kept as labels beside the
 * caller's own. Labels that begin with {@code isola.} are nobody else's.
 */
public final class Marks {
  static final String OURS = "isola.";
  static final String TEMPLATE = OURS + "e2b.template";
  static final String ALIAS = OURS + "e2b.alias";
  static final String INTERNET = OURS + "e2b.internet";
  static final String TRAFFIC = OURS + "e2b.private";

  /** On a sandbox of ours that has a volume, which it names, for somebody who looks into it. */
  public static final String VOLUME = OURS + "e2b.volume";

  private Marks() {}

  static Optional<String> of(SandboxView entry, String mark) {
    return Optional.ofNullable(entry.labels().get(mark));
  }

  /** Tells whether a sandbox is a means of ours, and nothing that a client made. */
  public static boolean isOurOwn(SandboxView entry) {
    return entry.labels().containsKey(VOLUME);
  }

  /** Returns the labels that are the caller's. */
  static Map<String, String> metadata(SandboxView entry) {
    Map<String, String> theirs = new LinkedHashMap<>();
    entry
        .labels()
        .forEach(
            (name, value) -> {
              if (!name.startsWith(OURS)) {
                theirs.put(name, value);
              }
            });
    return theirs;
  }
}
