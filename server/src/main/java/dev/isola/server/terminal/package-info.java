/** Terminals over WebSockets. */
@NullMarked
package dev.isola.server.terminal;

import org.jspecify.annotations.NullMarked;
