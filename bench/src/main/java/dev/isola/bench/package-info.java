/**
 * Measures providers next to the same work without them. {@link dev.isola.bench.Bench} runs a plan
 * and returns a {@link dev.isola.bench.Report}.
 */
@NullMarked
package dev.isola.bench;

import org.jspecify.annotations.NullMarked;
