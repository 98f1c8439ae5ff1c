/**
 * Network mode {@code bridge}: connects a sandbox that started in an empty network namespace to the
 * internet, without access to the host, its networks or other sandboxes.
 */
@NullMarked
package dev.isola.host.network;

import org.jspecify.annotations.NullMarked;
