/** Routes of E2B's control plane for sandboxes and snapshots. */
@NullMarked
package dev.isola.compat.e2b.control;

import org.jspecify.annotations.NullMarked;
