/**
 * Escape probes: attempts to break out of a sandbox, made by a small C program. A probe first runs
 * on the bare host, where it must succeed, and then in the sandbox, where it must fail.
 */
@NullMarked
package dev.isola.conformance.escape;

import org.jspecify.annotations.NullMarked;
