package dev.isola.engine.api;

import dev.isola.spi.error.ErrorCode;
import java.time.Instant;

/**
 * A failure of a sandbox.
 *
 * @param operation the operation that failed, such as {@code execution} or the name of a route
 * @param message one sentence of limited length, without control characters; never a command or its
 *     output
 */
public record RecentError(Instant at, ErrorCode code, String operation, String message) {}
