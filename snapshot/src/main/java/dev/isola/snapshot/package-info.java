/** Snapshots: what a sandbox's files were at one moment, kept once however often they are seen. */
@NullMarked
package dev.isola.snapshot;

import org.jspecify.annotations.NullMarked;
