/** Template recipes: a base and the build steps applied to it. */
@NullMarked
package dev.isola.document.recipe;

import org.jspecify.annotations.NullMarked;
