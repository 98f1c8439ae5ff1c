/** The named secrets of an installation. */
@NullMarked
package dev.isola.engine.api.secret;

import org.jspecify.annotations.NullMarked;
