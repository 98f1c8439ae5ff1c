/** Census of leaks, failpoints, crash harness, escape probes. */
@NullMarked
package dev.isola.testing;

import org.jspecify.annotations.NullMarked;
