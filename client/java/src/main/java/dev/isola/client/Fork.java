package dev.isola.client;

import java.util.Optional;

/**
 * What came of one fork: a sandbox, or why there is none.
 *
 * @param kind what it began with: {@code filesystem}
 * @param by how its files came: {@code mount} or {@code restore}
 * @param error a code of the API and a sentence
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
