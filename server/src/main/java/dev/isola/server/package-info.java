/** The HTTP server: validates, routes and answers requests. */
@NullMarked
package dev.isola.server;

import org.jspecify.annotations.NullMarked;
