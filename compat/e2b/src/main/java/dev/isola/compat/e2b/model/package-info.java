/** Bodies, errors and labels of E2B's API, as all of its parts use them. */
@NullMarked
package dev.isola.compat.e2b.model;

import org.jspecify.annotations.NullMarked;
