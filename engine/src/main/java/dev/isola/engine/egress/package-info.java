/**
 * Connects sandboxes in network mode {@code filtered} to other hosts, by the rules of their specs.
 */
@NullMarked
package dev.isola.engine.egress;

import org.jspecify.annotations.NullMarked;
