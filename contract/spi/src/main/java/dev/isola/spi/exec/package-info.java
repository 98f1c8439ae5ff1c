/** Commands: how they run, what they write and how they end. */
@NullMarked
package dev.isola.spi.exec;

import org.jspecify.annotations.NullMarked;
