package dev.isola.egress;

import java.time.Instant;

/**
 * A connection that was not established, or a request that was not passed on.
 *
 * @param denied whether a rule or a limit denied it; otherwise the other host cannot be reached
 * @param host the name or address that the guest process connected to
 * @param request method and path of a denied HTTP request; empty if the connection was denied
 * @param reason why, in words
 * @param remedy the rule that would allow it; empty if no rule can
 */
public record Denial(
    Instant at,
    boolean denied,
    String host,
    int port,
    String request,
    String reason,
    String remedy) {}
