/**
 * The Java SDK: sandboxes of an Isola server, by HTTP. Blocking calls, made for virtual threads;
 * {@link dev.isola.client.Isola} is where to begin.
 */
@NullMarked
package dev.isola.client;

import org.jspecify.annotations.NullMarked;
