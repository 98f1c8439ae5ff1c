package dev.isola.conformance.check;

/** Checks of what is declared as enforced is enforced. */
public final class LimitsChecks {}
