/** The engine: combines providers, ledger and snapshots into one sandbox service. */
@NullMarked
package dev.isola.engine;

import org.jspecify.annotations.NullMarked;
