/** What sandboxes use of what they may, and who is told when it is nearly all. */
@NullMarked
package dev.isola.engine.usage;

import org.jspecify.annotations.NullMarked;
