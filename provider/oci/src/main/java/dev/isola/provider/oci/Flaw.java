package dev.isola.provider.oci;

/**
 * A known way out of a runtime.
 *
 * @param name such as {@code CVE-2024-21626}
 * @param fixed the first version without it
 */
record Flaw(String name, Version fixed) {}
