/** A server process for tests of clients: {@link dev.isola.testing.server.TestServer}. */
@NullMarked
package dev.isola.testing.server;

import org.jspecify.annotations.NullMarked;
