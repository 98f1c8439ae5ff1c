/** Samples of the state of an engine, for live charts. */
@NullMarked
package dev.isola.engine.statistics;

import org.jspecify.annotations.NullMarked;
