/** The warm pool: sandboxes created ahead of requests. */
@NullMarked
package dev.isola.engine.api.pool;

import org.jspecify.annotations.NullMarked;
