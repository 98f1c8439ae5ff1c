/**
 * Providers whose sandboxes are plain processes: the guest agent as a detached process, in its own
 * folder.
 */
@NullMarked
package dev.isola.provider.subprocess;

import org.jspecify.annotations.NullMarked;
