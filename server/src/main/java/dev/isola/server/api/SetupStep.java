package dev.isola.server.api;

/**
 * Something to be done on this machine, or done already.
 *
 * @param about {@code machine}, {@code tool} or {@code provider}
 * @param detail what was found
 * @param fix what a person does about it; empty when there is nothing to do
 */
public record SetupStep(String about, String name, boolean done, String detail, String fix) {}
