package dev.isola.host.cgroup;

import java.time.Duration;

/**
 * What a group used. What cannot be told on this machine is zero.
 *
 * @param cpuTime of all its processes since it was made, also of those that have ended
 * @param memoryBytes in use now, without what the kernel would give back at once: files that were
 *     read and not used again
 * @param memoryPeakBytes the most since it was made, with all of it
 * @param processes how many live; their threads are not counted
 */
public record CgroupUsage(
    Duration cpuTime, long memoryBytes, long memoryPeakBytes, int processes) {}
