/**
 * Embedded mode: an engine in the caller's JVM. The artifact {@code dev.isola:isola-embedded}
 * implements {@link dev.isola.client.embedded.EmbeddedEngineFactory}.
 */
@NullMarked
package dev.isola.client.embedded;

import org.jspecify.annotations.NullMarked;
