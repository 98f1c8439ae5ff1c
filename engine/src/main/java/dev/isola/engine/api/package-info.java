/** Values that the engine and the server share. Depends on no other package of the engine. */
@NullMarked
package dev.isola.engine.api;

import org.jspecify.annotations.NullMarked;
