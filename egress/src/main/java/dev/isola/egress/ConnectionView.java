package dev.isola.egress;

import java.time.Instant;
import java.util.Optional;

/**
 * A connection of a sandbox to another host.
 *
 * @param id distinguishes it from the other connections of the sandbox
 * @param host the name or address that the guest process connected to
 * @param address the address that the server connected to
 * @param rule what allowed it
 * @param sentBytes bytes from the sandbox
 * @param receivedBytes bytes to the sandbox
 * @param closedAt empty while it is open
 */
public record ConnectionView(
    long id,
    String host,
    int port,
    String address,
    String rule,
    long sentBytes,
    long receivedBytes,
    Instant openedAt,
    Optional<Instant> closedAt) {}
