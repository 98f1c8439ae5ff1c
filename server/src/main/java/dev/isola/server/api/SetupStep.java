package dev.isola.server.api;

/**
 * An item of the setup of this host.
 *
 * @param about {@code machine}, {@code tool} or {@code provider}
 * @param detail what was found
 * @param fix what the operator should do; empty if there is nothing to do
 */
public record SetupStep(String about, String name, boolean done, String detail, String fix) {}
