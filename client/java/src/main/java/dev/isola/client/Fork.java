package dev.isola.client;

import dev.isola.client.error.Problem;
import java.util.Optional;

/**
 * Result of one fork: a sandbox or an error.
 *
 * @param kind state copied from the original: {@code filesystem} or {@code memory}
 * @param by how it was created: {@code mount}, {@code restore} or {@code memory}
 * @param error why there is no sandbox
 */
public record Fork(
    String kind, Optional<SandboxInfo> sandbox, Optional<String> by, Optional<Problem> error) {
  static Fork read(String kind, JsonFields fields) {
    if (fields.all().containsKey("sandbox")) {
      return new Fork(
          kind,
          Optional.of(SandboxInfo.read(fields.object("sandbox"))),
          fields.optionalText("by"),
          Optional.empty());
    }
    return new Fork(
        kind,
        Optional.empty(),
        Optional.empty(),
        Optional.of(Execution.streamError(fields.object("error"))));
  }
}
