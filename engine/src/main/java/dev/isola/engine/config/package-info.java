/** The configuration: one file, the environment over it, flags over that; all errors at once. */
@NullMarked
package dev.isola.engine.config;

import org.jspecify.annotations.NullMarked;
