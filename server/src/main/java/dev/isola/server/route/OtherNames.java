package dev.isola.server.route;

import dev.isola.spi.spec.Violation;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Names that fields of this API have in others, where a similar spelling would mislead. */
public final class OtherNames {
  private static final List<String> SANDBOX = List.of("id", "sandbox", "ref");

  private static final Map<String, List<String>> NAMES =
      Map.of(
          "runtime", List.of("provider"),
          "runtimeId", SANDBOX,
          "containerId", SANDBOX);

  private OtherNames() {}

  /** Returns a violation for each name that has another one here. */
  public static List<Violation> violations(Collection<String> names, Collection<String> known) {
    return names.stream()
        .filter(name -> !known.contains(name))
        .flatMap(
            name ->
                hint(name, known).map(hint -> new Violation(name, "is unknown" + hint)).stream())
        .toList();
  }

  /** Returns the name to use instead; empty if this one is none of another API. */
  static Optional<String> hint(String name, Collection<String> known) {
    return Optional.ofNullable(NAMES.get(name))
        .map(
            names ->
                names.stream()
                    .filter(known::contains)
                    .findFirst()
                    .map(here -> "; use " + here)
                    .orElse(
                        names.equals(SANDBOX)
                            ? "; the id of the sandbox is part of the path"
                            : ""));
  }
}
