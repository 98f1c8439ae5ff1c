/** Implements {@code isola backup} and {@code isola restore}. */
@NullMarked
package dev.isola.app.backup;

import org.jspecify.annotations.NullMarked;
