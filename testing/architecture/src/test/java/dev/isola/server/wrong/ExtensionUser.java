package dev.isola.server.wrong;

import dev.isola.compat.e2b.E2bApi;

/** Breaks the arrow of the server: it is handed extensions, and knows none. */
final class ExtensionUser {
  Class<?> arrow() {
    return E2bApi.class;
  }
}
