package dev.isola.conformance.check;

/** Checks of deadlines and what is left after them. */
public final class TimeoutChecks {}
