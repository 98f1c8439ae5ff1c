/** Failpoints: the points at which a crash leaves an operation incomplete. */
@NullMarked
package dev.isola.snapshot.failpoint;

import org.jspecify.annotations.NullMarked;
