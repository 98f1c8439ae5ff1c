package dev.isola.conformance.check;

/** Checks of watching files. */
public final class WatchChecks {}
