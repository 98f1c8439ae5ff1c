package dev.isola.conformance.check;

/** Checks of only SandboxException comes out, and it says what to do. */
public final class ErrorsChecks {}
