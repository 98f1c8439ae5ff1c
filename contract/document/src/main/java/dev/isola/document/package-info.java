/**
 * Document forms of specs and recipes, as used by API requests, files and stored records: reading,
 * writing, migration of older versions, and suggestions for misspelled names.
 */
@NullMarked
package dev.isola.document;

import org.jspecify.annotations.NullMarked;
