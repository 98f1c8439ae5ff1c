/** Runs the start and ready commands of a sandbox before it is returned to the client. */
@NullMarked
package dev.isola.engine.startup;

import org.jspecify.annotations.NullMarked;
