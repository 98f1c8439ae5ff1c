/** Values that the ledger stores encrypted, the keys for them, and named secrets. */
@NullMarked
package dev.isola.engine.secret;

import org.jspecify.annotations.NullMarked;
