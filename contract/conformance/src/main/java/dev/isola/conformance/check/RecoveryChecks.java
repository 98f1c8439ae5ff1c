package dev.isola.conformance.check;

/** Checks of finding sandboxes again after their owner is gone. */
public final class RecoveryChecks {}
