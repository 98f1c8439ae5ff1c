/** Sandboxes in E2B's cloud, and in every service with the same API. */
@NullMarked
package dev.isola.provider.e2b;

import org.jspecify.annotations.NullMarked;
