/** Content in pieces that are named by what they hold, packed into files worth the trip. */
@NullMarked
package dev.isola.snapshot.chunk;

import org.jspecify.annotations.NullMarked;
