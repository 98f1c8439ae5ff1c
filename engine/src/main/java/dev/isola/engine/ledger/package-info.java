/** Converts ledger records to the values of {@code engine.api}. */
@NullMarked
package dev.isola.engine.ledger;

import org.jspecify.annotations.NullMarked;
