/** Reads the common subset of Dockerfiles as recipes. */
@NullMarked
package dev.isola.document.dockerfile;

import org.jspecify.annotations.NullMarked;
