/**
 * The values that callers of the engine pass and get. Depends on no other package of the engine but
 * {@code engine.spec}, which reads the stored form of requests.
 */
@NullMarked
package dev.isola.engine.api;

import org.jspecify.annotations.NullMarked;
