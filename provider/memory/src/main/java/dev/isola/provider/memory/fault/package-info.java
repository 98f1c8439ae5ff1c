/** Faults that can be planted, so that the checks of the contract can be checked. */
@NullMarked
package dev.isola.provider.memory.fault;

import org.jspecify.annotations.NullMarked;
