/**
 * Network mode {@code bridge} on this machine: a sandbox that was started with an empty network
 * namespace gets an address and a way out, and cannot reach the host, its neighbours or other
 * sandboxes.
 */
@NullMarked
package dev.isola.host.network;

import org.jspecify.annotations.NullMarked;
