/** A test double: sandboxes that live in this JVM, with a simulated shell and faults to plant. */
@NullMarked
package dev.isola.provider.memory;

import org.jspecify.annotations.NullMarked;
