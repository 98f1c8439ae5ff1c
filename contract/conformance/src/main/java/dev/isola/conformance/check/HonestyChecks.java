package dev.isola.conformance.check;

/** Checks of what is declared works, what is not is refused by name. */
public final class HonestyChecks {}
