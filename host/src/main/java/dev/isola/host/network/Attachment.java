package dev.isola.host.network;

/**
 * The network configuration of a sandbox.
 *
 * @param address its IPv4 address
 * @param gateway its next hop, which does not answer itself
 */
public record Attachment(String address, String gateway) {}
