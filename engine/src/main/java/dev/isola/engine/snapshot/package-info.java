/** Snapshots of sandboxes: capture, restore and fork. */
@NullMarked
package dev.isola.engine.snapshot;

import org.jspecify.annotations.NullMarked;
