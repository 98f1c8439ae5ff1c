package dev.isola.conformance.check;

/** Checks of running commands: modes, environment, folders, users, exits. */
public final class ExecChecks {}
