package dev.isola.store;

import dev.isola.spi.SandboxId;
import java.time.Instant;
import java.util.Optional;

/**
 * An event before it has a number.
 *
 * @param sandbox whose it is; empty when it is about something else
 * @param data a JSON text; the ledger does not read it
 */
public record NewEvent(Optional<SandboxId> sandbox, String type, String data, Instant at) {
  public NewEvent {
    at = Micros.truncate(at);
  }

  public static NewEvent of(SandboxId sandbox, String type, String data, Instant at) {
    return new NewEvent(Optional.of(sandbox), type, data, at);
  }
}
