/** Files that are generated from the OpenAPI document. */
@NullMarked
package dev.isola.app.generated;

import org.jspecify.annotations.NullMarked;
