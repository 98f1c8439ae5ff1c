package dev.isola.provider.other.wrong;

/** A provider that another provider must not know. */
public final class OtherProvider {}
