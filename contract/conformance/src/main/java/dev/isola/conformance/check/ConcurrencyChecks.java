package dev.isola.conformance.check;

/** Checks of many callers at once. */
public final class ConcurrencyChecks {}
