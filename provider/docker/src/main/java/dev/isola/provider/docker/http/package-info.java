/** HTTP/1.1 as container engines speak it, including connections that a stream takes over. */
@NullMarked
package dev.isola.provider.docker.http;

import org.jspecify.annotations.NullMarked;
