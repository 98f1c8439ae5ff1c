package dev.isola.client;

import dev.isola.client.error.IsolaException;
import dev.isola.client.error.Problem;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** Finds the sandbox that a reference means: an id, a name, or the first characters of an id. */
final class SandboxReference {
  private static final Pattern GENERATED_ID = Pattern.compile("[a-z0-9]{20}");
  private static final Pattern ID = Pattern.compile("[a-z0-9]{1,32}");
  private static final int MAX_CANDIDATES = 5;

  private SandboxReference() {}

  /** Returns the id. An exact id precedes a name, and a name precedes the beginning of an id. */
  static String resolve(String reference, Function<SandboxFilter, List<SandboxInfo>> list) {
    if (GENERATED_ID.matcher(reference).matches()) {
      return reference;
    }
    List<SandboxInfo> found =
        reference.isEmpty() ? List.of() : list.apply(SandboxFilter.ALL.reference(reference));
    Optional<SandboxInfo> exact =
        found.stream()
            .filter(one -> one.id().equals(reference))
            .findFirst()
            .or(
                () ->
                    found.stream()
                        .filter(one -> one.name().filter(reference::equals).isPresent())
                        .findFirst());
    if (exact.isPresent()) {
      return exact.get().id();
    }
    if (found.size() > 1) {
      throw ambiguous(reference, found);
    }
    if (!found.isEmpty()) {
      return found.getFirst().id();
    }
    if (ID.matcher(reference).matches()) {
      return reference; // may be destroyed; the server reports what became of it
    }
    throw Problem.clientSide(
            "SANDBOX_NOT_FOUND",
            "no sandbox has the name or id '" + reference + "'",
            "list the sandboxes")
        .exception();
  }

  private static IsolaException ambiguous(String reference, List<SandboxInfo> found) {
    String candidates =
        found.stream()
            .limit(MAX_CANDIDATES)
            .map(one -> one.id() + one.name().map(name -> " (" + name + ")").orElse(""))
            .collect(Collectors.joining(", "));
    return Problem.clientSide(
            "CONFLICT",
            "'"
                + reference
                + "' is ambiguous: "
                + candidates
                + (found.size() > MAX_CANDIDATES
                    ? " and " + (found.size() - MAX_CANDIDATES) + " more"
                    : ""),
            "use more characters of the id, or the name")
        .exception();
  }
}
