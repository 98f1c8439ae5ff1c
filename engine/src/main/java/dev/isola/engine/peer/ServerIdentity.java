package dev.isola.engine.peer;

import java.net.URI;
import java.time.Duration;

/**
 * A server that shares its ledger with others.
 *
 * @param name its name, which no other server has
 * @param incarnation this process, which no other process has
 * @param url where the other servers reach it
 * @param version the version of Isola that it runs
 * @param lease how long it owns its sandboxes without renewing
 */
public record ServerIdentity(
    String name, String incarnation, URI url, String version, Duration lease) {}
