/**
 * The sandbox and its optional capabilities: a closed set of interfaces, each declared by the
 * providers that implement it.
 */
@NullMarked
package dev.isola.spi.capability;

import org.jspecify.annotations.NullMarked;
