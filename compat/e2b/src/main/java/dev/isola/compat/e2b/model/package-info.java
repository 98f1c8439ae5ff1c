/** Request bodies, errors and labels shared by all parts of E2B's API. */
@NullMarked
package dev.isola.compat.e2b.model;

import org.jspecify.annotations.NullMarked;
