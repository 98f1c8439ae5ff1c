package dev.isola.engine.api;

/** Percentiles of durations in milliseconds. */
public record DurationPercentiles(double p50, double p95, double p99) {}
