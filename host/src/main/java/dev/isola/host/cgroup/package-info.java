/** Control groups of both versions: limits, freezing, killing and resource usage of a sandbox. */
@NullMarked
package dev.isola.host.cgroup;

import org.jspecify.annotations.NullMarked;
