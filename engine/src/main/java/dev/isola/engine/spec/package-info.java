/** The stored form of requests. Depends on no other package of the engine. */
@NullMarked
package dev.isola.engine.spec;

import org.jspecify.annotations.NullMarked;
