/** Sandboxes as plain processes of the host. */
@NullMarked
package dev.isola.provider.subprocess;

import org.jspecify.annotations.NullMarked;
