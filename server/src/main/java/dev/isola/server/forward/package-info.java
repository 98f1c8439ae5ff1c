/** Requests that are passed on to another server or to a sandbox: their heads and bodies. */
@NullMarked
package dev.isola.server.forward;

import org.jspecify.annotations.NullMarked;
