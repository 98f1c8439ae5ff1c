/**
 * Escape probes: ways out of a sandbox, each tried for real by a small C program. A probe is first
 * run on the bare host, where it must get through, and then in the sandbox, where it must not.
 */
@NullMarked
package dev.isola.conformance.escape;

import org.jspecify.annotations.NullMarked;
