package dev.isola.engine.api;

import dev.isola.spi.Health;
import java.time.Instant;

/** The health of a provider from a moment on. */
public record HealthChange(Instant at, Health health) {}
