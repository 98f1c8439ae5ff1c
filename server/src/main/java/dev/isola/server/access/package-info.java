/**
 * Checks of requests to sandboxes: host access, exposed ports and files that a read key may see.
 */
@NullMarked
package dev.isola.server.access;

import org.jspecify.annotations.NullMarked;
