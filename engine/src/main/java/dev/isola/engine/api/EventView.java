package dev.isola.engine.api;

import dev.isola.spi.SandboxId;
import java.time.Instant;
import java.util.Optional;

/**
 * Something that happened.
 *
 * @param number from 1 without gaps; a reader that has seen N asks for what comes after N
 * @param sandbox empty for an event that belongs to no sandbox
 * @param data a JSON document
 */
public record EventView(
    long number, Optional<SandboxId> sandbox, String type, String data, Instant at) {}
