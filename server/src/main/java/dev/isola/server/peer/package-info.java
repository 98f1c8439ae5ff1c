/**
 * Requests between servers that share a ledger: each sandbox has an owner, and every other server
 * passes requests on to it.
 */
@NullMarked
package dev.isola.server.peer;

import org.jspecify.annotations.NullMarked;
