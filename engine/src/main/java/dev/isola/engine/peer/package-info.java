/** Several servers on one ledger: leases, and which server owns a sandbox. */
@NullMarked
package dev.isola.engine.peer;

import org.jspecify.annotations.NullMarked;
