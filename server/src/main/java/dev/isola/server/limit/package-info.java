/** Rate limits and concurrency limits. */
@NullMarked
package dev.isola.server.limit;

import org.jspecify.annotations.NullMarked;
