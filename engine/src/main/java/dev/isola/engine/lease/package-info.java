/** Leases: which sandboxes belong to a living process other than the server. */
@NullMarked
package dev.isola.engine.lease;

import org.jspecify.annotations.NullMarked;
