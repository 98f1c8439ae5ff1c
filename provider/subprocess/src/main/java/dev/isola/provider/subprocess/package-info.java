/**
 * Sandboxes that are plain processes: the guest agent as a detached child, in a folder of its own.
 */
@NullMarked
package dev.isola.provider.subprocess;

import org.jspecify.annotations.NullMarked;
