package dev.isola.egress;

import java.time.Instant;

/**
 * A connection or a request that was denied.
 *
 * @param host the name or address that the guest process connected to
 * @param request method and path of a denied HTTP request; empty if the connection was denied
 * @param reason why, in words
 * @param remedy the rule that would allow it; empty if no rule can
 */
public record Denial(
    Instant at, String host, int port, String request, String reason, String remedy) {}
