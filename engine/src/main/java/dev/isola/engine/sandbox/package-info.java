/** Sandboxes for clients: the create from its request to its response, and the use of sandboxes. */
@NullMarked
package dev.isola.engine.sandbox;

import org.jspecify.annotations.NullMarked;
