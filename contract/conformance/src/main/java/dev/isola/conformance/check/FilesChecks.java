package dev.isola.conformance.check;

/** Checks of the file system, call by call. */
public final class FilesChecks {}
