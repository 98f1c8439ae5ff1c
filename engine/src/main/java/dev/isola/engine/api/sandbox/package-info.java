/** Sandboxes for clients: the create from its request to its response, and the use of sandboxes. */
@NullMarked
package dev.isola.engine.api.sandbox;

import org.jspecify.annotations.NullMarked;
