package dev.isola.store;

import dev.isola.spi.SandboxId;
import java.time.Instant;
import java.util.Optional;

/** An event of the ledger; see {@link NewEvent} and {@link LedgerEvents} for its parts. */
public record LedgerEvent(
    long number, Optional<SandboxId> sandbox, String type, String data, Instant at) {}
