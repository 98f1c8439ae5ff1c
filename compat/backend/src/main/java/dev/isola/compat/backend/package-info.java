/**
 * The backend protocol, by which this server is a backend of another Isola: a translation onto the
 * engine. The bytes of the guest protocol are passed on to the agents of its sandboxes.
 */
@NullMarked
package dev.isola.compat.backend;

import org.jspecify.annotations.NullMarked;
