package dev.isola.client;

import java.util.Optional;

/**
 * Result of one fork: a sandbox or an error.
 *
 * @param kind state copied from the original: {@code filesystem}
 * @param by how the files were copied: {@code mount} or {@code restore}
 * @param error code of the API and detail
 */
public record Fork(
    String kind, Optional<SandboxInfo> sandbox, Optional<String> by, Optional<String> error) {
  static Fork read(String kind, JsonFields fields) {
    if (fields.all().containsKey("sandbox")) {
      return new Fork(
          kind,
          Optional.of(SandboxInfo.read(fields.object("sandbox"))),
          fields.optionalText("by"),
          Optional.empty());
    }
    JsonFields error = fields.object("error");
    return new Fork(
        kind,
        Optional.empty(),
        Optional.empty(),
        Optional.of(error.text("code") + ": " + error.text("detail")));
  }
}
