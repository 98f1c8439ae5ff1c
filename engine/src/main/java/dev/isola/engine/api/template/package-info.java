/** Templates: images built from recipes, with defaults for sandboxes created from them. */
@NullMarked
package dev.isola.engine.api.template;

import org.jspecify.annotations.NullMarked;
