package dev.isola.conformance.check;

/** Checks of nothing outside the workspace is reached. */
public final class FileEscapeChecks {}
