/**
 * Leak detection: finds the resources that a test left behind. {@link
 * dev.isola.conformance.leak.ResourceScan} covers all installations; {@link
 * dev.isola.conformance.leak.LeakDetector} covers one, so that tests can run side by side.
 */
@NullMarked
package dev.isola.conformance.leak;

import org.jspecify.annotations.NullMarked;
