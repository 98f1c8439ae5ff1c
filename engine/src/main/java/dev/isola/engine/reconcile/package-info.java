/** Makes what exists and what is written down the same again. */
@NullMarked
package dev.isola.engine.reconcile;

import org.jspecify.annotations.NullMarked;
