/** Samples of the state of an engine, for live charts. */
@NullMarked
package dev.isola.engine.api.statistics;

import org.jspecify.annotations.NullMarked;
