package dev.isola.store;

import java.time.Instant;

/**
 * The ledger's record of a server.
 *
 * @param incarnation the process; another process with the same name has another one
 * @param url where the other servers reach it
 * @param reserved what it has reserved, which the ledger does not interpret
 * @param alive whether its lease was valid when the record was read, by the database's clock
 */
public record ServerEntry(
    String name,
    String incarnation,
    String url,
    String version,
    Instant startedAt,
    Instant leaseUntil,
    String reserved,
    boolean alive) {}
