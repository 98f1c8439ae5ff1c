/** Content-addressed chunks, stored in pack files. */
@NullMarked
package dev.isola.snapshot.chunk;

import org.jspecify.annotations.NullMarked;
