/** Reconciliation: makes the ledger and the providers agree. */
@NullMarked
package dev.isola.engine.reconcile;

import org.jspecify.annotations.NullMarked;
