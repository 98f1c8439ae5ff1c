/**
 * What a create needs to know: what its request stands for, which providers are candidates, and
 * which sandbox of the warm pool fits.
 */
@NullMarked
package dev.isola.engine.sandbox;

import org.jspecify.annotations.NullMarked;
