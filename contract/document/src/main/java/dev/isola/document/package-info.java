/**
 * The forms in which a spec is written down: documents of API requests, files and stored records,
 * their older versions, and what to suggest for a name that is not known.
 */
@NullMarked
package dev.isola.document;

import org.jspecify.annotations.NullMarked;
