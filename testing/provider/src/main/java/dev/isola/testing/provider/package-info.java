/**
 * A test double: the {@code subprocess} provider with pausing, forks and faults planted at the
 * contract. Never part of a release.
 */
@NullMarked
package dev.isola.testing.provider;

import org.jspecify.annotations.NullMarked;
