package dev.isola.conformance.check;

/** Checks of live output, input and back-pressure. */
public final class StreamsChecks {}
