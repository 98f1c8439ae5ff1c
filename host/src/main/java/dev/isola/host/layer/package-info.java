/** Files that several sandboxes begin with and none of them changes: layers beneath workspaces. */
@NullMarked
package dev.isola.host.layer;

import org.jspecify.annotations.NullMarked;
