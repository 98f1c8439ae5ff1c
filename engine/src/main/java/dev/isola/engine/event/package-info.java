/** What happened to sandboxes, in the order in which it was written down. */
@NullMarked
package dev.isola.engine.event;

import org.jspecify.annotations.NullMarked;
