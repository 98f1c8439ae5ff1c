package dev.isola.store;

/**
 * The record of a sandbox with its owner.
 *
 * @param owner the name of the server that owns the sandbox
 * @param fence increases with every change of the owner
 */
public record OwnedEntry(SandboxEntry entry, String owner, long fence) {}
