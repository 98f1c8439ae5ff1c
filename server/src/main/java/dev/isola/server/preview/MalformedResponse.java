package dev.isola.server.preview;

import java.io.IOException;

/** Thrown when a sandbox sends something other than an HTTP/1.1 response. */
final class MalformedResponse extends IOException {
  private static final long serialVersionUID = 1;

  MalformedResponse(String why) {
    super(why);
  }
}
