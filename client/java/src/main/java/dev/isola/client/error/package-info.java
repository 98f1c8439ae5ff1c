/** Exceptions of the SDK, one class for each way to react, named like the server's error types. */
@NullMarked
package dev.isola.client.error;

import org.jspecify.annotations.NullMarked;
