/** Tar archives: ustar, pax and GNU's extensions, read strictly; written as ustar and pax. */
@NullMarked
package dev.isola.codec.tar;

import org.jspecify.annotations.NullMarked;
