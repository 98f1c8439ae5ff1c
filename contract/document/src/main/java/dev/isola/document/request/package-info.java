/**
 * Create requests: a spec for the provider, and the lifecycle and placement options that only the
 * engine sees.
 */
@NullMarked
package dev.isola.document.request;

import org.jspecify.annotations.NullMarked;
