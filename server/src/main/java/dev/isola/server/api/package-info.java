/** The routes of the native API. */
@NullMarked
package dev.isola.server.api;

import org.jspecify.annotations.NullMarked;
