/** Error codes as HTTP responses. */
@NullMarked
package dev.isola.server.error;

import org.jspecify.annotations.NullMarked;
