/**
 * Configuration: one file, overridden by the environment, overridden by flags. All problems are
 * reported together.
 */
@NullMarked
package dev.isola.engine.config;

import org.jspecify.annotations.NullMarked;
