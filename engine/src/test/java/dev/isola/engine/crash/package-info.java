/** Kills an engine again and again while it works, and looks whether anything is lost or left. */
@NullMarked
package dev.isola.engine.crash;

import org.jspecify.annotations.NullMarked;
