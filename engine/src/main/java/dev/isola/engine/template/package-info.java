/** Templates: images built from recipes, with defaults for sandboxes created from them. */
@NullMarked
package dev.isola.engine.template;

import org.jspecify.annotations.NullMarked;
