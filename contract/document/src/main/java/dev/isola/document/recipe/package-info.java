/** The recipe of a template: what its build begins with, and the steps that it runs. */
@NullMarked
package dev.isola.document.recipe;

import org.jspecify.annotations.NullMarked;
