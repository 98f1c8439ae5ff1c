/** The routes of E2B's control plane over sandboxes and snapshots. */
@NullMarked
package dev.isola.compat.e2b.control;

import org.jspecify.annotations.NullMarked;
