package dev.isola.provider.other.wrong;

/** A provider that other providers must not use. */
public final class OtherProvider {}
