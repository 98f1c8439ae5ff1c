package dev.isola.conformance.check;

/** Checks of create, state, destroy, inventory. */
public final class LifecycleChecks {}
