package dev.isola.client;

import java.util.Optional;

/**
 * What came of one fork: a sandbox, or why there is none.
 *
 * @param error a code of the API and a sentence
 */
public record Fork(Optional<SandboxInfo> sandbox, Optional<String> error) {
  static Fork read(Fields fields) {
    if (fields.all().containsKey("sandbox")) {
      return new Fork(Optional.of(SandboxInfo.read(fields.object("sandbox"))), Optional.empty());
    }
    Fields error = fields.object("error");
    return new Fork(
        Optional.empty(), Optional.of(error.text("code") + ": " + error.text("detail")));
  }
}
