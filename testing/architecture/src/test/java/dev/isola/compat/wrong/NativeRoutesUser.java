package dev.isola.compat.wrong;

import dev.isola.server.api.Api;

/** Breaks the arrow to the server: another API does not know the routes of the native one. */
final class NativeRoutesUser {
  Class<?> arrow() {
    return Api.class;
  }
}
