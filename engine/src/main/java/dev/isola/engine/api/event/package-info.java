/** The event log: state changes of sandboxes, in the order in which they were recorded. */
@NullMarked
package dev.isola.engine.api.event;

import org.jspecify.annotations.NullMarked;
