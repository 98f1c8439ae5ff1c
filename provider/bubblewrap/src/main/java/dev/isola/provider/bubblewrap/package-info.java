/** Sandboxes with bubblewrap: namespaces without a daemon, with and without root. */
@NullMarked
package dev.isola.provider.bubblewrap;

import org.jspecify.annotations.NullMarked;
