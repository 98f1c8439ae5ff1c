/** Access to the engine, its images and the sandboxes of requests. */
@NullMarked
package dev.isola.server.context;

import org.jspecify.annotations.NullMarked;
