/** Ports of sandboxes as web sites: authorization and forwarding. */
@NullMarked
package dev.isola.server.preview;

import org.jspecify.annotations.NullMarked;
