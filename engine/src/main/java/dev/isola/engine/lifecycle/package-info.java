/** From the intent to the end of a sandbox: what is done, and what is written down before it. */
@NullMarked
package dev.isola.engine.lifecycle;

import org.jspecify.annotations.NullMarked;
