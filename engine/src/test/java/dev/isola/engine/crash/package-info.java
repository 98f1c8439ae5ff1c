/** Crash tests: kill an engine under load and check that nothing is lost or leaked. */
@NullMarked
package dev.isola.engine.crash;

import org.jspecify.annotations.NullMarked;
