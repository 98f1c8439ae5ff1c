package dev.isola.conformance.check;

/** Checks of listing, signalling, attaching, replaying. */
public final class BackgroundChecks {}
