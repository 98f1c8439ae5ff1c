/** A real sshd for tests. */
@NullMarked
package dev.isola.testing.ssh;

import org.jspecify.annotations.NullMarked;
