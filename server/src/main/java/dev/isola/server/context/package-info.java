/** The engine as routes reach it, and the sandboxes that requests are for. */
@NullMarked
package dev.isola.server.context;

import org.jspecify.annotations.NullMarked;
