/**
 * The resources of the host that sandboxes use: control groups, images, layers, networks, roots.
 */
@NullMarked
package dev.isola.host;

import org.jspecify.annotations.NullMarked;
