/** Tar archives. Reads ustar, pax and GNU extensions strictly; writes ustar and pax. */
@NullMarked
package dev.isola.codec.tar;

import org.jspecify.annotations.NullMarked;
