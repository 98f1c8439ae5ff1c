package dev.isola.compat.wrong;

import dev.isola.server.api.Api;

/** Violates a dependency rule: a compatible API does not use the routes of the native one. */
final class NativeRoutesUser {
  Class<?> forbidden() {
    return Api.class;
  }
}
