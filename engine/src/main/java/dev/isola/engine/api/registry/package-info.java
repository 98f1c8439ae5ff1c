/** The provider registry: the available providers, and those that could not be created. */
@NullMarked
package dev.isola.engine.api.registry;

import org.jspecify.annotations.NullMarked;
