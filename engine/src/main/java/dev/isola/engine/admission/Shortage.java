package dev.isola.engine.admission;

/**
 * A resource that is short.
 *
 * @param resource {@code memory}, {@code cpu}, {@code memoryPressure} or {@code disk}
 * @param needed the amount that the sandbox needs; for memory pressure, the allowed maximum
 * @param free the amount that is free; for memory pressure, the current value
 * @param message a description of both
 */
record Shortage(String resource, String needed, String free, String message) {}
