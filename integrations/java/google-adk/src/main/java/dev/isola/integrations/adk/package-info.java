/**
 * Sandboxes for Google's Agent Development Kit: {@link
 * dev.isola.integrations.adk.IsolaCodeExecutor}.
 */
@NullMarked
package dev.isola.integrations.adk;

import org.jspecify.annotations.NullMarked;
