/** HTTP/1.1 on a connection that the caller has opened, such as one to a unix socket. */
@NullMarked
package dev.isola.codec.http;

import org.jspecify.annotations.NullMarked;
