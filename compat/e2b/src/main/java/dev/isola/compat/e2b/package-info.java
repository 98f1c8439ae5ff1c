/**
 * E2B's API, so that its clients work against this server with two URLs changed: the control plane
 * and envd. A translation onto the engine that holds no state of its own.
 */
@NullMarked
package dev.isola.compat.e2b;

import org.jspecify.annotations.NullMarked;
