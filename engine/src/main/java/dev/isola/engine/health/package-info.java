/** Health monitoring: probes providers and keeps the latest results. */
@NullMarked
package dev.isola.engine.health;

import org.jspecify.annotations.NullMarked;
