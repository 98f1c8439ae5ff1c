package dev.isola.engine.admission;

/**
 * The figure that is short.
 *
 * @param resource {@code memory}, {@code cpu} or {@code memoryPressure}
 * @param needed what the sandbox needs; for a pressure the one that is allowed
 * @param free what there is
 * @param sentence both in words
 */
record Shortage(String resource, String needed, String free, String message) {}
