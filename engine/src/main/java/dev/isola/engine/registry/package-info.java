/** The providers there are, and those that could not be made. */
@NullMarked
package dev.isola.engine.registry;

import org.jspecify.annotations.NullMarked;
