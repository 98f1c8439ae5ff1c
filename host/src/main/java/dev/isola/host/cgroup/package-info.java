/** Control groups of either version: limits, freezing, killing and measuring of a sandbox. */
@NullMarked
package dev.isola.host.cgroup;

import org.jspecify.annotations.NullMarked;
