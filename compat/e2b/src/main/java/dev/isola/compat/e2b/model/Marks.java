package dev.isola.compat.e2b.model;

import dev.isola.engine.api.SandboxView;
import dev.isola.engine.lifecycle.SpecText;
import dev.isola.engine.volume.VolumeService;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * What E2B's clients said of a sandbox that a spec has no word for, kept as labels beside the
 * caller's own. Labels that begin with {@code isola.} are nobody else's.
 */
public final class Marks {
  public static final String OURS = "isola.";
  public static final String TEMPLATE = OURS + "e2b.template";
  public static final String ALIAS = OURS + "e2b.alias";
  public static final String INTERNET = OURS + "e2b.internet";
  public static final String TRAFFIC = OURS + "e2b.private";

  /** The tag of a snapshot that has its name. */
  public static final String SNAPSHOT_NAME = "e2b.name";

  /** The tag of a snapshot that has the template of its sandbox. */
  public static final String SNAPSHOT_TEMPLATE = "e2b.template";

  private Marks() {}

  public static Optional<String> of(SandboxView entry, String mark) {
    return Optional.ofNullable(entry.labels().get(mark));
  }

  /** Returns the template that a sandbox was made from; without one, its image or the host. */
  public static String template(SandboxView entry) {
    return of(entry, TEMPLATE)
        .or(() -> SpecText.read(entry.spec(), entry.id()).spec().image())
        .orElse("host");
  }

  /** Returns whether a sandbox is one through which the engine reaches a volume. */
  public static boolean isOurOwn(SandboxView entry) {
    return entry.labels().containsKey(VolumeService.HELPER_LABEL);
  }

  /** Returns the labels that are the caller's. */
  public static Map<String, String> metadata(SandboxView entry) {
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
