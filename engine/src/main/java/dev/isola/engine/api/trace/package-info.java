/** Tracing: exports the spans of each request by OTLP. */
@NullMarked
package dev.isola.engine.api.trace;

import org.jspecify.annotations.NullMarked;
