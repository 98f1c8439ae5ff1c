/** Layers below workspaces: files that several sandboxes share and none of them changes. */
@NullMarked
package dev.isola.host.layer;

import org.jspecify.annotations.NullMarked;
