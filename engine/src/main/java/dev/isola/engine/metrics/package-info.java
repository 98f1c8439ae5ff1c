/** Metrics of the engine and their exporters. */
@NullMarked
package dev.isola.engine.metrics;

import org.jspecify.annotations.NullMarked;
