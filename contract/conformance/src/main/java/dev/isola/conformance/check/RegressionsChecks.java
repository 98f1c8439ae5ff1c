package dev.isola.conformance.check;

/** Checks of past bugs, rerun against every provider. */
public final class RegressionsChecks {}
