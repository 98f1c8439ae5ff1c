/** Runs the start and ready command of a sandbox before it is handed out. */
@NullMarked
package dev.isola.engine.startup;

import org.jspecify.annotations.NullMarked;
