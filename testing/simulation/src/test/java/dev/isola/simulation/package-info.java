/**
 * A discrete-event model of an installation: many servers on one ledger, with the planners of the
 * engine, a virtual clock and injected failures.
 */
@NullMarked
package dev.isola.simulation;

import org.jspecify.annotations.NullMarked;
