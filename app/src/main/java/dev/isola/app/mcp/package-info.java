/** Serves the Model Context Protocol on standard input and output. */
@NullMarked
package dev.isola.app.mcp;

import org.jspecify.annotations.NullMarked;
