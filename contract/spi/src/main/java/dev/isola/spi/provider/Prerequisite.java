package dev.isola.spi.provider;

/**
 * A feature of the host that a provider requires or benefits from.
 *
 * @param name such as {@code user namespaces} or {@code /dev/kvm}
 * @param necessary whether the provider is unhealthy without it; otherwise it only has fewer
 *     features
 * @param detail what was found
 * @param fix what the operator does to provide it; empty if present
 */
public record Prerequisite(
    String name, boolean necessary, boolean present, String detail, String fix) {}
