/**
 * Counts what is on this machine and bears Isola's mark, so that what a test left behind can be
 * told from what was there before. {@link dev.isola.conformance.leak.ResourceScan} sees everything;
 * {@link dev.isola.conformance.leak.LeakDetector} sees one installation, so that tests beside each
 * other do not see each other's.
 */
@NullMarked
package dev.isola.conformance.leak;

import org.jspecify.annotations.NullMarked;
