/** Requests to a backend: every response is bounded in size and time, and none is trusted. */
@NullMarked
package dev.isola.provider.http.client;

import org.jspecify.annotations.NullMarked;
