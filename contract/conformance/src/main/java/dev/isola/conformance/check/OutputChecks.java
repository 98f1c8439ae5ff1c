package dev.isola.conformance.check;

/** Checks of what is kept, counted and cut. */
public final class OutputChecks {}
