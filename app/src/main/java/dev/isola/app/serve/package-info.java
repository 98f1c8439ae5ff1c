/** Implements {@code isola serve}: a server in this process, with its log. */
@NullMarked
package dev.isola.app.serve;

import org.jspecify.annotations.NullMarked;
