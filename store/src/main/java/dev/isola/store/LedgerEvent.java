package dev.isola.store;

import dev.isola.spi.SandboxId;
import java.time.Instant;
import java.util.Optional;

/** An event of the ledger. {@link NewEvent} and {@link LedgerEvents} document the components. */
public record LedgerEvent(
    long number, Optional<SandboxId> sandbox, String type, String data, Instant at) {}
