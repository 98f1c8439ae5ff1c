/** The HTTP server: what comes in is checked, routed by one table, and answered. */
@NullMarked
package dev.isola.server;

import org.jspecify.annotations.NullMarked;
