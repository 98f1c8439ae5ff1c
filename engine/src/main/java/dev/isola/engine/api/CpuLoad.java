package dev.isola.engine.api;

import java.time.Duration;

/**
 * The CPU usage of a sandbox between two measurements.
 *
 * @param percent of one processor: 200 if two processors are fully used
 * @param interval the time between the measurements
 */
public record CpuLoad(double percent, Duration interval) {}
