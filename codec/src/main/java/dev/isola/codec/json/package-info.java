/** JSON as maps, lists, texts, numbers and flags. The only place that knows Jackson. */
@NullMarked
package dev.isola.codec.json;

import org.jspecify.annotations.NullMarked;
