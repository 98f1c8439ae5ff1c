package dev.isola.server.wrong;

import dev.isola.compat.e2b.E2bApi;

/** Violates a dependency rule: the server receives extensions and depends on none. */
final class ExtensionUser {
  Class<?> forbidden() {
    return E2bApi.class;
  }
}
