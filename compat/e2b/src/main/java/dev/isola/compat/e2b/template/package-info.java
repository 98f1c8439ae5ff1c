/** Templates of E2B's clients: images that are built by instructions. */
@NullMarked
package dev.isola.compat.e2b.template;

import org.jspecify.annotations.NullMarked;
