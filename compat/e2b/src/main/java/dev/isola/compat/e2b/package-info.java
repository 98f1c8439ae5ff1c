/**
 * The API of E2B, so that its clients work here with two URLs changed: the control plane, and what
 * they expect inside a sandbox. A translation over the engine, without a state of its own.
 */
@NullMarked
package dev.isola.compat.e2b;

import org.jspecify.annotations.NullMarked;
