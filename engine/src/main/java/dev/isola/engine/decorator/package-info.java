/**
 * The only way to the providers: each call passes one decorator, which limits its time, translates
 * undeclared exceptions and reports what clients do.
 */
@NullMarked
package dev.isola.engine.decorator;

import org.jspecify.annotations.NullMarked;
