/** SHA-256. */
@NullMarked
package dev.isola.codec.digest;

import org.jspecify.annotations.NullMarked;
