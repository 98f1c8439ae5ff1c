/** The audit log. */
@NullMarked
package dev.isola.server.audit;

import org.jspecify.annotations.NullMarked;
