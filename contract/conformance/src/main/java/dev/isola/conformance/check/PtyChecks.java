package dev.isola.conformance.check;

/** Checks of terminals. */
public final class PtyChecks {}
