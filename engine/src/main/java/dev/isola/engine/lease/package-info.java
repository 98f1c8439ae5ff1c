/** Leases: mark the sandboxes that belong to live processes other than the server. */
@NullMarked
package dev.isola.engine.lease;

import org.jspecify.annotations.NullMarked;
