/** What the engine counts and times, and how that leaves the process. */
@NullMarked
package dev.isola.engine.metrics;

import org.jspecify.annotations.NullMarked;
