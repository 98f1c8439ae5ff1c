package dev.isola.conformance.check;

/** Checks of every call repeated. */
public final class IdempotencyChecks {}
