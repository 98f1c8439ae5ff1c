/** Terminal of this process: raw mode, size, signals. */
@NullMarked
package dev.isola.app.terminal;

import org.jspecify.annotations.NullMarked;
