/** Requests with deadlines and bounded answers over the JDK's client. */
@NullMarked
package dev.isola.provider.e2b.http;

import org.jspecify.annotations.NullMarked;
