package dev.isola.engine.api;

import java.net.URI;
import java.time.Instant;

/**
 * A server of the installation, as the ledger records it.
 *
 * @param name its name, which is that of its data folder
 * @param url where the other servers reach it
 * @param version the version of Isola that it runs
 * @param alive whether its lease is valid
 */
public record ServerView(String name, URI url, String version, Instant startedAt, boolean alive) {}
