/** The engine and its images as routes reach them, and the sandboxes that requests are for. */
@NullMarked
package dev.isola.server.context;

import org.jspecify.annotations.NullMarked;
