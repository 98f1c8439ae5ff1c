package dev.isola.host.network;

/**
 * What a sandbox was given.
 *
 * @param address its own IPv4 address
 * @param gateway where its packets go first; nothing answers there
 */
public record Attachment(String address, String gateway) {}
