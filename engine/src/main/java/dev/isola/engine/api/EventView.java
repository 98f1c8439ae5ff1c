package dev.isola.engine.api;

import dev.isola.spi.SandboxId;
import java.time.Instant;
import java.util.Optional;

/**
 * An event in the ledger.
 *
 * @param number increases by 1 without gaps, starting at 1; a reader that has processed event N
 *     continues after N
 * @param sandbox empty for an event that does not belong to a sandbox
 * @param data a JSON document
 */
public record EventView(
    long number, Optional<SandboxId> sandbox, String type, String data, Instant at) {}
