/** Which credentials may work in sandboxes that have something of the host. */
@NullMarked
package dev.isola.server.access;

import org.jspecify.annotations.NullMarked;
