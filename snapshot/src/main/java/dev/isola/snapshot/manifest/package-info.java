/** The manifest of a snapshot: its metadata and its entries. */
@NullMarked
package dev.isola.snapshot.manifest;

import org.jspecify.annotations.NullMarked;
