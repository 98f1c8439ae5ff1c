/** Sandboxes of E2B's cloud, and of every server that speaks its API. */
@NullMarked
package dev.isola.provider.e2b;

import org.jspecify.annotations.NullMarked;
