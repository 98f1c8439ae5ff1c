package dev.isola.conformance.check;

/** Checks of tar trees in and out. */
public final class TreesChecks {}
