/** How much of this server one caller may have. */
@NullMarked
package dev.isola.server.limit;

import org.jspecify.annotations.NullMarked;
