/** Templates: images that are built by recipes, with what sandboxes made from them begin with. */
@NullMarked
package dev.isola.engine.template;

import org.jspecify.annotations.NullMarked;
