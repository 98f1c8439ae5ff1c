/** Error codes as HTTP answers. */
@NullMarked
package dev.isola.server.error;

import org.jspecify.annotations.NullMarked;
