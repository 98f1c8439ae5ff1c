/**
 * Measures providers beside what the same work costs without them. {@link dev.isola.bench.Bench}
 * runs it; a {@link dev.isola.bench.Report} is what comes out.
 */
@NullMarked
package dev.isola.bench;

import org.jspecify.annotations.NullMarked;
