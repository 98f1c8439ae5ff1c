package dev.isola.host.wrong;

import dev.isola.app.Main;
import dev.isola.document.request.CreateRequest;

/** Breaks the arrows of its folder: only app may know app, and no host code sees a request. */
final class Wrong {
  Class<?> arrow() {
    return Main.class;
  }

  Class<?> request() {
    return CreateRequest.class;
  }
}
