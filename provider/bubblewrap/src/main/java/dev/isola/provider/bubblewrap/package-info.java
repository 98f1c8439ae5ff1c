/** Sandboxes by bubblewrap: namespaces without a daemon, for root and for everybody. */
@NullMarked
package dev.isola.provider.bubblewrap;

import org.jspecify.annotations.NullMarked;
