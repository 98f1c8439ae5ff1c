/** Sandboxes for Spring AI: {@link dev.isola.integrations.springai.IsolaToolCallbacks}. */
@NullMarked
package dev.isola.integrations.springai;

import org.jspecify.annotations.NullMarked;
