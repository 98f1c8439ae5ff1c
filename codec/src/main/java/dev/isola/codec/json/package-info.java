/** JSON as maps, lists, strings, numbers and booleans. The only package that uses Jackson. */
@NullMarked
package dev.isola.codec.json;

import org.jspecify.annotations.NullMarked;
