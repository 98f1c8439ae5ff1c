/** Ports of sandboxes as web sites: who may see them, and how requests get there and back. */
@NullMarked
package dev.isola.server.preview;

import org.jspecify.annotations.NullMarked;
