package dev.isola.store;

import dev.isola.spi.SandboxId;
import java.time.Instant;
import java.util.Optional;

/**
 * An event that has no number yet.
 *
 * @param sandbox the sandbox of the event; empty for an event that concerns no sandbox
 * @param data a JSON document, which the ledger does not interpret
 */
public record NewEvent(Optional<SandboxId> sandbox, String type, String data, Instant at) {
  public NewEvent {
    at = Micros.truncate(at);
  }

  public static NewEvent of(SandboxId sandbox, String type, String data, Instant at) {
    return new NewEvent(Optional.of(sandbox), type, data, at);
  }
}
