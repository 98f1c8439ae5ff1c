/** The moments at which an end of the process leaves something half done. */
@NullMarked
package dev.isola.snapshot.failpoint;

import org.jspecify.annotations.NullMarked;
