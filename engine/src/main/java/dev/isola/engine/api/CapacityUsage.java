package dev.isola.engine.api;

/** The reserved and free resources at one point in time. */
public record CapacityUsage(Resources capacity, Resources reserved, Resources free, int waiting) {}
