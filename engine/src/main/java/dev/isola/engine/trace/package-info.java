/** Traces: what belongs to one request, sent to whoever collects spans. */
@NullMarked
package dev.isola.engine.trace;

import org.jspecify.annotations.NullMarked;
