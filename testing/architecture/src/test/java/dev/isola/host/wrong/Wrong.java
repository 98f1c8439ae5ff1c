package dev.isola.host.wrong;

import dev.isola.app.Main;
import dev.isola.document.request.CreateRequest;

/**
 * Violates the dependency rules of its folder: only app may use app, and host code does not use
 * requests.
 */
final class Wrong {
  Class<?> forbidden() {
    return Main.class;
  }

  Class<?> request() {
    return CreateRequest.class;
  }
}
