/** Who did what, written down. */
@NullMarked
package dev.isola.server.audit;

import org.jspecify.annotations.NullMarked;
