/**
 * HTTP/1.1 as container engines speak it: over a socket, with streams that take the connection
 * over.
 */
@NullMarked
package dev.isola.provider.docker.http;

import org.jspecify.annotations.NullMarked;
