/** Bytes between requests and sandboxes: files and ranges, standard input, output. */
@NullMarked
package dev.isola.server.content;

import org.jspecify.annotations.NullMarked;
