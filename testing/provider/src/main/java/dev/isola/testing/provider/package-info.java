/**
 * A test double: the {@code subprocess} provider with pausing, forks and planted faults. Never part
 * of a release.
 */
@NullMarked
package dev.isola.testing.provider;

import org.jspecify.annotations.NullMarked;
