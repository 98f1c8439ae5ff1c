package dev.isola.spi.provider;

/**
 * Something a provider needs or profits from on this machine.
 *
 * @param name such as {@code user namespaces} or {@code /dev/kvm}
 * @param necessary without it the provider is unhealthy; otherwise it only does less
 * @param detail what was found
 * @param fix what a person does to get it; empty when present
 */
public record Prerequisite(
    String name, boolean necessary, boolean present, String detail, String fix) {}
