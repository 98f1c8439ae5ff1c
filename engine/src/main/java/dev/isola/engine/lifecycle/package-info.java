/**
 * The lifecycle of a sandbox: creation, expiry, suspension and destruction. Every change is
 * recorded in the ledger before it is made.
 */
@NullMarked
package dev.isola.engine.lifecycle;

import org.jspecify.annotations.NullMarked;
