/** Requests with deadlines and size-limited responses, over the JDK's HTTP client. */
@NullMarked
package dev.isola.provider.e2b.http;

import org.jspecify.annotations.NullMarked;
