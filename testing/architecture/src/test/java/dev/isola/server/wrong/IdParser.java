package dev.isola.server.wrong;

import dev.isola.spi.SandboxId;

/** Violates a rule: text of a request becomes a sandbox id in one class only. */
final class IdParser {
  SandboxId forbidden(String text) {
    return new SandboxId(text);
  }
}
