package dev.isola.host.cgroup;

import java.time.Duration;

/**
 * Resource usage of a group. Values that the host does not provide are zero.
 *
 * @param cpuTime of all its processes since creation, including ended ones
 * @param memoryBytes current use, without page cache that the kernel can reclaim immediately
 * @param memoryPeakBytes the maximum since creation, including page cache
 * @param processes the number of processes, not counting threads
 */
public record CgroupUsage(
    Duration cpuTime, long memoryBytes, long memoryPeakBytes, int processes) {}
