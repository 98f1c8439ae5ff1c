/**
 * Java SDK: sandboxes of an Isola server over HTTP. Calls block and suit virtual threads. Start
 * with {@link dev.isola.client.Isola}.
 */
@NullMarked
package dev.isola.client;

import org.jspecify.annotations.NullMarked;
