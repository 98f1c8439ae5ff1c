/** Health monitoring: probes providers and keeps the latest results. */
@NullMarked
package dev.isola.engine.api.health;

import org.jspecify.annotations.NullMarked;
