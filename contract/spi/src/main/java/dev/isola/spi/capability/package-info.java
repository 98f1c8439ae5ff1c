/**
 * A sandbox, and what it may be able to do beyond the required: a closed set, each declared by the
 * provider that has it.
 */
@NullMarked
package dev.isola.spi.capability;

import org.jspecify.annotations.NullMarked;
