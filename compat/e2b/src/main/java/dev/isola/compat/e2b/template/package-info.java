/** Templates of E2B's clients: images built from instructions. */
@NullMarked
package dev.isola.compat.e2b.template;

import org.jspecify.annotations.NullMarked;
